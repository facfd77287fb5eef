package cmd_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// What a stream holds drives no terminal, wherever it is printed, and says the same.
func TestAnExportHoldsNoControlCharacters(t *testing.T) {
	const said = "c1 \u009b31m \u0080\u009f del \x7f bell \u0007 esc \u001b]0;t"
	dir := t.TempDir()
	database, stream, folder := filepath.Join(dir, "s.db"), filepath.Join(dir, "s.ndjson"), filepath.Join(dir, "ws")
	buildDB(t, database, func(db *agenttest.DB) error {
		root, _, _ := delegated(db)
		_, err := db.SQL.Exec(`update session_items set message_json = json_set(message_json, '$.content', ?, '$.more', ?) where session_id = ? and position = 0`, said, said, root)
		if err == nil { // as a writer that escapes nothing has it
			_, err = db.SQL.Exec(`update session_items set message_json = replace(message_json, '\u007f', char(127)) where session_id = ?`, root)
		}
		return err
	})
	writeFile(t, stream, streamHeader+`{"type":"session","id":"P","title":"`+"\u009b\x7f"+`"}`+"\n"+
		`{"type":"item","session":"P","kind":"message","role":"user","text":"`+"\u009b\x7f"+`","raw":"`+"\u009b"+`"}`+"\n"+
		`{"type":"item","session":"P","kind":"message","role":"user","text":"`+"\x1b"+`"}`+"\n")
	writeFile(t, filepath.Join(folder, "main/history/step_001.json"), strings.Replace(step, "ok", "\u009b\x7f", 1))
	for _, path := range []string{database, stream, folder} {
		_, out, stderr := run(t, "export", path)
		if at := strings.IndexFunc(out, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); at >= 0 || out == "" {
			t.Errorf("%s: a control character at %d of %q, %s", path, at, out, stderr)
		}
		copied := filepath.Join(dir, "copy.ndjson"+filepath.Base(path))
		writeFile(t, copied, out)
		if _, differs, stderr := run(t, "diff", path, copied); !strings.Contains(differs, "Nothing differs") && path != stream {
			t.Errorf("%s: the export says something else:\n%s%s", path, differs, stderr)
		}
	}
}
