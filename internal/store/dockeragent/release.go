package dockeragent

// releases names the first release of each schema generation (2.1), as far as
// it is known.
var releases = []struct {
	generation int64
	release    string
}{
	{0, "v0.5.0"}, {6, "v1.3.0"}, {7, "v1.3.5"}, {8, "v1.5.13"}, {9, "v1.18.2"}, {10, "v1.18.8"}, {11, "v1.19.0"},
	{13, "v1.19.3"}, {14, "v1.20.0"}, {16, "v1.20.6"}, {17, "v1.23.4"}, {18, "v1.27.1"}, {19, "v1.32.4"},
	{20, "v1.36.0"}, {21, "v1.41.0"},
}

// The last release that is known to write generation 21 or an older one.
const (
	lastDated        = 21
	lastDatedRelease = "v1.59.0"
)

// runtime says which versions leave this schema behind.
func (s *schema) runtime() string {
	if s.generation > lastDated {
		return "written by a docker agent later than " + lastDatedRelease
	}
	text := ""
	for _, r := range releases {
		if r.generation > s.generation {
			return text + ", before " + r.release
		}
		text = "written by docker agent " + r.release + " or later"
	}
	return text
}

// advice says whether the runtime that wrote the file still leaks (0, 4.1).
func (s *schema) advice() []string {
	switch {
	case s.generation >= 14 && s.generation <= 17:
		return []string{"The docker agent that wrote this file leaks sub-agent messages into the parent session (v1.20.0 to v1.32.0): " +
			"upgrade it, or new sessions will be damaged again."}
	case s.generation == 18:
		return []string{"This file was last written by a docker agent of v1.27.1 to v1.32.3. Those up to v1.32.0 leak sub-agent messages " +
			"into the parent session: upgrade, or new sessions will be damaged again."}
	case s.generation > 18:
		return []string{"The docker agent that last wrote this file no longer leaks: messages that leaked were written before v1.32.1."}
	}
	return nil
}
