package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// mostStart is the processor time that the start of the program may take.
const mostStart = 12 * time.Millisecond

// startTable measures what the program takes before it does anything, in milliseconds. It
// fails where that is more than mostStart.
func startTable(out io.Writer, sessctl, database string, _ int) error {
	const rounds = 40
	folder, err := os.MkdirTemp(filepath.Dir(database), "start-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "store.db")
	db, err := agenttest.Create(path, bigGeneration)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\nthe start, %d rounds, medians, the least in parentheses\n\n%-40s %16s %16s %9s\n", rounds, "command", "wall ms", "cpu ms", "peak MB"); err != nil {
		return err
	}
	for _, args := range [][]string{{"version"}, {"explain", "SC101"}, {"ls", path}, {"check", path}} {
		var samples []sample
		for range rounds {
			s, err := measure(append([]string{sessctl}, args...))
			if err != nil {
				return err
			}
			samples = append(samples, s)
		}
		wall, leastWall := median(samples, func(s sample) float64 { return s.Wall.Seconds() * 1000 })
		cpu, leastCPU := median(samples, func(s sample) float64 { return s.CPU.Seconds() * 1000 })
		peak, _ := median(samples, func(s sample) float64 { return float64(s.Peak) / 1e6 })
		_, err := fmt.Fprintf(out, "%-40s %8.1f (%5.1f) %8.1f (%5.1f) %9.1f\n", "sessctl "+args[0], wall, leastWall, cpu, leastCPU, peak)
		if most := mostStart.Seconds() * 1000; args[0] == "version" && cpu > most {
			err = errors.Join(err, fmt.Errorf("version takes %.1f ms of processor time, and may take %.0f", cpu, most))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
