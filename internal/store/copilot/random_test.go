package copilot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/copilot"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestBuiltConform(t *testing.T) {
	for seed := range uint64(6) {
		storetest.Run(t, copilot.Kind, storetest.Sample{
			Name: fmt.Sprint("seed ", seed), Make: func(t *testing.T, folder string) string { home, _ := built(t, folder, seed, 1); return home },
		})
	}
}

func TestRecordedConform(t *testing.T) {
	for _, name := range names(t) {
		if name == "damaged-only-start" { // nothing was said
			continue
		}
		storetest.Run(t, copilot.Kind, storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string { return recorded(t, name, folder) }})
	}
}

// TestWholeProgramsAreClean: nothing is wrong with what ran to its end.
func TestWholeProgramsAreClean(t *testing.T) {
	for seed := range uint64(campaign.Rounds(60, 1000)) {
		home, _ := built(t, t.TempDir(), seed, 1)
		if found := serious(storetest.Findings(t, home)); len(found) > 0 {
			t.Errorf("seed %d: %q", seed, found)
		}
	}
}

// serious are the findings that are more than an info.
func serious(found []string) []string {
	return slices.DeleteFunc(found, func(f string) bool { return strings.HasPrefix(f, "info") })
}

// damage changes a file in one way. Lines that do not end as they should are damage, too.
func damage(rng *rand.Rand, lines []string) []string {
	if len(lines) < 3 {
		return lines
	}
	n := 1 + rng.IntN(len(lines)-1)
	m := 1 + rng.IntN(len(lines)-1)
	edit := func(change func(l, data object)) {
		var l object
		if json.Unmarshal([]byte(lines[n]), &l) != nil {
			return
		}
		data, _ := l["data"].(object)
		change(l, data)
		text, _ := json.Marshal(l)
		lines[n] = string(text)
	}
	member := func(of object) string {
		keys := []string{}
		for k := range of {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if len(keys) == 0 {
			return ""
		}
		return keys[rng.IntN(len(keys))]
	}
	switch rng.IntN(17) {
	case 0: // a line is lost
		return slices.Delete(lines, n, n+1)
	case 1: // or the first one
		return lines[1:]
	case 2: // a line is there twice
		return slices.Insert(lines, m, lines[n])
	case 3: // and has another id
		edit(func(l, _ object) { l["id"] = fmt.Sprintf("%08x-0000-4000-8000-000000000000", rng.Uint32()) })
		return slices.Insert(lines, m, lines[n])
	case 4: // a line moves
		line := lines[n]
		return slices.Insert(slices.Delete(lines, n, n+1), min(m, len(lines)-1), line)
	case 5: // a line is broken in two
		at := rng.IntN(len(lines[n]) + 1)
		lines[n] = lines[n][:at] + "\n" + lines[n][at:]
	case 6: // two lines are on one
		if n+1 < len(lines) {
			lines[n] += lines[n+1]
			return slices.Delete(lines, n+1, n+2)
		}
	case 7:
		return slices.Insert(lines, n, "garbage {")
	case 8:
		return append(lines, strings.Repeat("\x00", 1+rng.IntN(50)))
	case 9: // the end is cut off
		return append(lines[:n], lines[n][:rng.IntN(len(lines[n])+1)])
	case 10: // a value is lost
		edit(func(_, data object) { delete(data, member(data)) })
	case 11: // or of another type
		edit(func(_, data object) {
			if k := member(data); k != "" {
				data[k] = []any{nil, 7, "text", true, []any{}, object{}}[rng.IntN(6)]
			}
		})
	case 12:
		edit(func(l, _ object) {
			if k := member(l); k != "type" {
				l[k] = []any{nil, 7, "text", true, object{}}[rng.IntN(5)]
			}
		})
	case 13:
		edit(func(l, _ object) { delete(l, []string{"id", "timestamp", "parentId", "data"}[rng.IntN(4)]) })
	case 14: // a line loses its agent
		edit(func(l, data object) { delete(l, "agentId"); delete(data, "parentToolCallId") })
	case 15: // or gets one
		if agent := regexp.MustCompile(`"agentId":"[^"]+"`).FindString(strings.Join(lines, "")); agent != "" && strings.HasPrefix(lines[n], "{") {
			lines[n] = "{" + agent + "," + lines[n][1:]
		}
	case 16:
		edit(func(l, _ object) { l["ephemeral"] = true })
	}
	return lines
}

// kindOf is the kind of a value in the words of schema.txt.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "s"
	case float64:
		return "ni"
	case bool:
		return "b"
	case object:
		return "o"
	}
	return "a"
}

// loads holds a file against the table of fields, as a second reader that shares no code with the adapter; "" where
// it loads.
func loads(t *testing.T, text []byte) string {
	t.Helper()
	table, err := os.ReadFile("schema.txt")
	if err != nil {
		t.Fatal(err)
	}
	started := false
	id := regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	stamp := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
	for n, line := range bytes.Split(text, []byte("\n")) {
		var l object
		if json.Unmarshal(line, &l) != nil || l == nil {
			continue
		}
		kind, ok := l["type"].(string)
		if !ok || kind == "" {
			continue
		}
		started = started || kind == "session.start"
		data, isData := l["data"].(object)
		parent, isParent := l["parentId"].(string)
		_, there := l["parentId"]
		lineID, _ := l["id"].(string)
		at, _ := l["timestamp"].(string)
		ephemeral, marked := l["ephemeral"]
		_, isBool := ephemeral.(bool)
		agent, named := l["agentId"]
		_, isText := agent.(string)
		if !isData || !there || l["parentId"] != nil && (!isParent || !id.MatchString(parent)) || !id.MatchString(lineID) || !stamp.MatchString(at) || marked && !isBool || named && !isText {
			return fmt.Sprintf("line %d: envelope: %s", n+1, line)
		}
		within := ""
		for row := range strings.Lines(string(table)) {
			words := strings.Fields(row)
			if !strings.ContainsAny(words[0][:1], "[{") {
				within = words[0]
			}
			if within != kind || words[0] == "#" {
				continue
			}
			parts := []any{data}
			if words[0] != kind {
				inner, there := data[strings.Trim(words[0], "[]{}")]
				if parts = []any{inner}; !there || inner == nil {
					continue
				}
				if list, isList := inner.([]any); isList {
					parts = list
				}
			}
			for _, part := range parts {
				of, _ := part.(object)
				for _, field := range words[1:] {
					name, want, _ := strings.Cut(field, ":")
					v, there := of[name]
					switch {
					case !there && len(want) > 1, v == nil && there && strings.HasSuffix(want, "?"):
					case !there || want[:1] == "*" && v == nil || want[:1] != "*" && !strings.Contains(kindOf(v), want[:1]):
						return fmt.Sprintf("line %d: %s of %s: %s", n+1, name, kind, line)
					}
				}
			}
		}
	}
	if !started {
		return "no session.start"
	}
	return ""
}

// TestNothingIsLost repairs random damaged sessions: each loads then, by a second reader of the table; what they say is
// there or in the receipt; a second repair has nothing to do; and an undo gives back the same bytes.
func TestNothingIsLost(t *testing.T) {
	rounds := campaign.Rounds(300, 2000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 11))
		folder := t.TempDir()
		home, file := built(t, folder, seed, 0.3+0.7*rng.Float64())
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		for range 1 + rng.IntN(3) {
			lines = damage(rng, lines)
		}
		before := []byte(strings.Join(lines, "\n") + "\n")
		if rng.IntN(4) == 0 {
			before = before[:len(before)-1]
		}
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		plan, receipt, err := repairtest.Repair(home, "guesses")
		if err != nil {
			t.Fatalf("seed %d: %v%s", seed, err, repairtest.Told(plan))
		}
		after, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if why := loads(t, after); why != "" {
			t.Errorf("seed %d does not load: %s%s", seed, why, repairtest.Told(plan))
		}
		if receipt == nil {
			if !bytes.Equal(before, after) {
				t.Errorf("seed %d: it changed", seed)
			}
			continue
		}
		repairtest.Idle(t, home, fmt.Sprint("seed ", seed, repairtest.Told(plan)), "guesses")
		kept, err := os.ReadFile(receipt.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range regexp.MustCompile(`"(?:content|message|summaryContent)":"([^"\\\n]+)"`).FindAllSubmatch(before, -1) {
			if !bytes.Contains(after, said[1]) && !bytes.Contains(kept, said[1]) {
				t.Errorf("seed %d: %q is lost", seed, said[1])
			}
		}
		if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again, _ := os.ReadFile(file); !bytes.Equal(before, again) {
			t.Errorf("seed %d: undo gives something else", seed)
		}
	}
}
