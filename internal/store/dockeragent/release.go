package dockeragent

// releases names the first release of each schema generation (2.1), as far as it is known;
// "after" one where only the day of the migration is known. 022 to 024 are dated by the
// history of migrations.go and by the changelog, 027 to 030 by their pull requests
// (#4000, #4026).
var releases = []struct {
	generation int64
	release    string
	after      bool
}{
	{0, "v0.5.0", false}, {6, "v1.3.0", false}, {7, "v1.3.5", false}, {8, "v1.5.13", false}, {9, "v1.18.2", false}, {10, "v1.18.8", false},
	{11, "v1.19.0", false}, {13, "v1.19.3", false}, {14, "v1.20.0", false}, {16, "v1.20.6", false}, {17, "v1.23.4", false}, {18, "v1.27.1", false},
	{19, "v1.32.4", false}, {20, "v1.36.0", false}, {21, "v1.41.0", false}, {22, "v1.110.0", false}, {24, "v1.111.0", false}, {25, "v1.111.0", true},
	{27, "v1.115.0", true},
}

// lastSeen is the newest release of which a database is known: it has migration 029 and no
// table or column of sessions that is not known here.
const lastSeen = "v1.149.0"

// runtime says which versions leave this schema behind.
func (s *schema) runtime() string {
	if len(s.later) > 0 {
		return "written by a docker agent that is newer than those sessctl knows (up to " + lastSeen + ")"
	}
	text := ""
	for _, r := range releases {
		switch {
		case r.generation > s.generation && r.after:
			return text
		case r.generation > s.generation:
			return text + ", before " + r.release
		case r.after:
			text = "written by a docker agent later than " + r.release
		default:
			text = "written by docker agent " + r.release + " or later"
		}
	}
	return text
}

// advice says whether the runtime that wrote the file still leaks (0, 4.1).
func (s *schema) advice() []string {
	switch {
	case s.generation > 18 || len(s.later) > 0:
		return []string{"The docker agent that last wrote this file no longer leaks: messages that leaked were written before v1.32.1."}
	case s.generation == 18:
		return []string{"This file was last written by a docker agent of v1.27.1 to v1.32.3. Those up to v1.32.0 leak sub-agent messages " +
			"into the parent session: upgrade, or new sessions will be damaged again."}
	case s.generation >= 14:
		return []string{"The docker agent that wrote this file leaks sub-agent messages into the parent session (v1.20.0 to v1.32.0): " +
			"upgrade it, or new sessions will be damaged again."}
	}
	return nil
}
