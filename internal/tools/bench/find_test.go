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

	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/player"
)

// findTables measure a find in each kind of store against grep: a word of one message, and one that
// every session has.
func findTables(out io.Writer, sessctl, database string, rounds int) error {
	folder, err := os.MkdirTemp(filepath.Dir(database), "find-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	rare, err := rareWord(database)
	if err != nil {
		return err
	}
	events, claude := filepath.Join(folder, "adk.db"), filepath.Join(folder, "claude")
	if err := errors.Join(talkADK(adktest.P1)(events, newTalker()), talkClaude(claude, newTalker())); err != nil {
		return err
	}
	for _, store := range []struct{ name, path string }{{"docker agent", database}, {"ADK P1", events}, {"Claude Code", claude}} {
		entries := []entry{{"grep -rci " + rare, []string{"sh", "-c", `grep -rci "$@" >/dev/null; test $? -lt 2`, "sh", rare, store.path}}}
		for _, word := range []string{rare, "error"} {
			entries = append(entries, entry{"sessctl find " + word, []string{"sh", "-c", `"$@" >/dev/null; test $? -lt 2`, "sh", sessctl, "find", word, store.path}})
		}
		if err := compare(out, "\n"+store.name+": ", store.path, entries, rounds); err != nil {
			return err
		}
	}
	return nil
}

// rareWord is the longest word of a message amid the database.
func rareWord(database string) (word string, err error) {
	db, err := sql.Open("sqlite", "file:"+database+"?mode=ro")
	if err != nil {
		return "", err
	}
	var text string
	err = db.QueryRow("select message_json from session_items where id > (select max(id) / 2 from session_items) and length(message_json) > 2000 limit 1").Scan(&text)
	words := regexp.MustCompile(`[A-Za-z]{4,40}`).FindAllString(text, -1)
	if err == nil && len(words) == 0 {
		err = errors.New("the message has no word")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return "", err
	}
	return slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) }), nil
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
