package bench

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/player"
)

// findTables measure a find in each kind of store against grep: of words that few sessions have, and of one
// that every session has.
func findTables(out io.Writer, sessctl, database string, rounds int) error {
	folder, err := os.MkdirTemp(filepath.Dir(database), "find-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	rare, err := rareWords(database)
	if err != nil {
		return err
	}
	events, claude := filepath.Join(folder, "adk.db"), filepath.Join(folder, "claude")
	if err := errors.Join(talkADK(adktest.P1)(events, newTalker()), talkClaude(claude, newTalker())); err != nil {
		return err
	}
	for _, store := range []struct{ name, path string }{{"docker agent", database}, {"ADK P1", events}, {"Claude Code", claude}} {
		entries := []entry{ // grep stops early if nobody reads what it prints
			{"grep -rci", []string{"sh", "-c", `grep -rci "$@" | cat >/dev/null`, "sh", rare, store.path}},
			{"sessctl find, what few sessions have", []string{"sh", "-c", `"$@" >/dev/null; test $? -lt 2`, "sh", sessctl, "find", `"` + rare + `"`, store.path}},
			{"sessctl find, what all have", []string{sessctl, "find", "error", store.path}},
		}
		if err := compare(out, "\n"+store.name+": ", store.path, entries, rounds); err != nil {
			return err
		}
	}
	return nil
}

// rareWords are the longest words on one line of a message amid the database.
func rareWords(database string) (word string, err error) {
	db, err := sql.Open("sqlite", "file:"+database+"?mode=ro")
	if err != nil {
		return "", err
	}
	var text string
	err = db.QueryRow("select message_json from session_items where id > (select max(id) / 2 from session_items) and length(message_json) > 2000 limit 1").Scan(&text)
	lines := regexp.MustCompile(`[A-Za-z_ ]{4,40}`).FindAllString(text, -1)
	if err == nil && len(lines) == 0 {
		err = errors.New("the message has no words")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return "", err
	}
	return slices.MaxFunc(lines, func(a, b string) int { return len(strings.TrimSpace(a)) - len(strings.TrimSpace(b)) })[1:], nil // without what may be of an escape
}

// talkClaude writes transcripts of Claude Code, half a gigabyte.
func talkClaude(home string, t *talker) error {
	const transcripts = 1000
	for n := range uint64(transcripts) {
		var program player.Program
		for range 10 {
			turn := player.Turn{Prompt: t.say()}
			for range 10 {
				call := player.Call{Tool: "Read", Args: jsonText(map[string]string{"file_path": "/srv/" + t.text.title(t.rng)}), Result: t.text.cut(int(3500 * t.rng.ExpFloat64()))}
				turn.Steps = append(turn.Steps, player.Step{Text: t.say(), Calls: []player.Call{call}})
			}
			program = append(program, turn)
		}
		if _, err := claudetest.Build(home, claudetest.Versions[len(claudetest.Versions)-1], n, player.Play(program, n)); err != nil {
			return fmt.Errorf("transcript %d: %w", n, err)
		}
	}
	return nil
}
