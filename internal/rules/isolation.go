package rules

import "time"

// Isolation is what the isolation rules (SC8xx) hold a child against: the limits of
// Loom's design (loom-os/loom c34e1de, ISOLATION.md), which a team may change. The
// zero value of a limit means that there is none.
type Isolation struct {
	Passage          int           // characters of the parent's history that a child's prompt may hold in one piece
	MaxSteps         int           // messages with calls of one child
	MaxTokensPerStep int           // of one message, estimated (see tokens)
	MaxOutputFiles   int           // files that one child wrote
	MaxOutputBytes   int64         // of all these together
	Timeout          time.Duration // of a delegation that names none itself
	Shared           []string      // folders that every agent may use, as tools name them
}

// UsualIsolation are the limits when nobody says otherwise.
var UsualIsolation = Isolation{
	Passage: 200, MaxSteps: 20, MaxTokensPerStep: 2000, MaxOutputFiles: 10, MaxOutputBytes: 1_000_000, Timeout: time.Minute,
}

// Isolation are the limits of the pass.
func (p *Pass) Isolation() *Isolation {
	if p.judge.Isolation != nil {
		return p.judge.Isolation
	}
	return &UsualIsolation
}
