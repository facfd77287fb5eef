package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// teamStream is a canonical stream in which two workers with workspaces, tools and time
// limits do what they were asked.
const teamStream = `{"type":"header","format":"sessctl.canonical/1","kind":"my-runtime","writer":"dead"}
{"type":"session","id":"P","agent":"root","workspace":"main"}
{"type":"item","session":"P","kind":"message","role":"user","time":"2026-03-02T09:00:00Z","text":"Go"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","time":"2026-03-02T09:00:01Z","calls":[{"id":"T1","name":"task","args":"{}","delegation":{"agent":"ann","child":"A","task":"search","tools":["write_file"],"timeout_ms":30000,"correlation":"k1"}},{"id":"T2","name":"task","args":"{}","delegation":{"agent":"bob","child":"B","task":"collect","tools":["write_file"],"timeout_ms":30000,"correlation":"k2"}}]}
{"type":"item","session":"P","kind":"sub_session","child":"A"}
{"type":"item","session":"P","kind":"sub_session","child":"B"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","time":"2026-03-02T09:00:20Z","results":[{"call":"T1","child":"A","correlation":"k1","text":"ann is done"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","time":"2026-03-02T09:00:21Z","results":[{"call":"T2","child":"B","correlation":"k2","text":"bob is done"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","time":"2026-03-02T09:00:22Z","text":"Here it is."}
{"type":"session","id":"A","parent":"P","agent":"ann","workspace":"ann"}
{"type":"item","session":"A","kind":"message","role":"user","time":"2026-03-02T09:00:02Z","text":"search"}
{"type":"item","session":"A","kind":"message","role":"assistant","agent":"ann","time":"2026-03-02T09:00:03Z","calls":[{"id":"a1","name":"write_file","args":"{\"path\":\"outputs/a.md\"}"}],"outputs":[{"path":"outputs/a.md","real":"ann/outputs/a.md","bytes":100}]}
{"type":"item","session":"A","kind":"message","role":"tool","agent":"ann","time":"2026-03-02T09:00:09Z","results":[{"call":"a1","text":"ok"}]}
{"type":"item","session":"A","kind":"message","role":"assistant","agent":"ann","time":"2026-03-02T09:00:10Z","text":"ann is done"}
{"type":"session","id":"B","parent":"P","agent":"bob","workspace":"bob"}
{"type":"item","session":"B","kind":"message","role":"user","time":"2026-03-02T09:00:02Z","text":"collect"}
{"type":"item","session":"B","kind":"message","role":"assistant","agent":"bob","time":"2026-03-02T09:00:04Z","calls":[{"id":"b1","name":"write_file","args":"{\"path\":\"outputs/b.md\"}"}]}
{"type":"item","session":"B","kind":"message","role":"tool","agent":"bob","time":"2026-03-02T09:00:08Z","results":[{"call":"b1","text":"ok"}]}
{"type":"item","session":"B","kind":"message","role":"assistant","agent":"bob","time":"2026-03-02T09:00:11Z","text":"bob is done"}
`

func TestIsolationInStreams(t *testing.T) {
	for name, tc := range map[string]struct {
		change []string // pairs of old and new
		want   string
	}{
		"as it should be":      {nil, ""},
		"one workspace":        {[]string{`"workspace":"bob"`, `"workspace":"ann"`}, "SC807"},
		"workspaces unknown":   {[]string{`,"workspace":"bob"`, ``, `,"workspace":"ann"`, ``}, ""},
		"a file of the other":  {[]string{`\"outputs/b.md\"`, `\"../ann/outputs/a.md\"`}, "SC807"},
		"a file it was told":   {[]string{`\"outputs/b.md\"`, `\"../ann/outputs/a.md\"`, `"text":"collect"`, `"text":"collect from a.md"`}, ""},
		"a file that is gone":  {[]string{`"real":"ann/outputs/a.md",`, ``}, "SC808"},
		"a file that differs":  {[]string{`"bytes":100`, `"bytes":100,"hash_differs":true`}, "SC808"},
		"a file from outside":  {[]string{`"real":"ann/outputs/a.md"`, `"outside":true`}, "SC807"},
		"another tool":         {[]string{`"id":"b1","name":"write_file"`, `"id":"b1","name":"shell"`}, "SC809"},
		"no tool was granted":  {[]string{`"task":"collect","tools":["write_file"]`, `"task":"collect","tools":[]`}, "SC809"},
		"nothing says":         {[]string{`"task":"collect","tools":["write_file"],`, `"task":"collect",`, `"id":"b1","name":"write_file"`, `"id":"b1","name":"shell"`}, ""},
		"another agent's step": {[]string{`"role":"tool","agent":"bob","time":"2026-03-02T09:00:08Z","results":[{"call":"b1"`, `"role":"tool","agent":"bob","time":"2026-03-02T09:00:08Z","results":[{"call":"a1"`}, "SC810"},
		"cut off":              {[]string{`"text":"bob is done"}` + "\n", `"text":"bob is","unfinished":true}` + "\n"}, "SC811"},
		"cut off and failed":   {[]string{`"text":"bob is done"}` + "\n", `"text":"bob is","unfinished":true}` + "\n", `"correlation":"k2","text":"bob is done"`, `"correlation":"k2","error":true,"text":"lost"`}, ""},
		"two agents in one":    {[]string{`"agent":"bob","time":"2026-03-02T09:00:11Z"`, `"agent":"eve","time":"2026-03-02T09:00:11Z"`}, "SC812"},
		"a scope each":         {[]string{`"agent":"bob","time":"2026-03-02T09:00:11Z"`, `"agent":"eve","scope":"x","time":"2026-03-02T09:00:11Z"`}, ""},
		"another correlation":  {[]string{`"child":"B","correlation":"k2"`, `"child":"B","correlation":"k1"`}, "SC813"},
		"too late":             {[]string{`09:00:21Z`, `09:00:41Z`, `09:00:22Z`, `09:00:42Z`}, "SC813"},
		"a large message":      {[]string{`"results":[{"call":"b1","text":"ok"`, `"results":[{"call":"b1","text":"` + strings.Repeat("long ", 2000) + `"`}, "SC821"},
		"too many bytes":       {[]string{`"bytes":100`, `"bytes":1000001`}, "SC821"},
		"results of nobody":    {[]string{`"call":"T1","child":"A","correlation":"k1",`, ``, `"call":"T2","child":"B","correlation":"k2",`, ``}, "SC831"},
		"answered too early":   {[]string{`"call":"T2","child":"B","correlation":"k2",`, `"call":"T2","pending":true,`}, "SC831"},
	} {
		t.Run(name, func(t *testing.T) {
			text := teamStream
			for n := 0; n < len(tc.change); n += 2 {
				if !strings.Contains(text, tc.change[n]) {
					t.Fatalf("the stream has no %s", tc.change[n])
				}
				text = strings.ReplaceAll(text, tc.change[n], tc.change[n+1])
			}
			path := filepath.Join(t.TempDir(), "team.ndjson")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			wantIsolated(t, path, tc.want)
		})
	}
}
