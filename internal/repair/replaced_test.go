//go:build unix

package repair_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// scene is a store that somebody moves about while it is worked on, with links to its
// files by which the test knows where its bytes went.
type scene struct {
	folder, path, keep string
	other              string // another database, in no use
	foreign            []string
}

// put puts a file at a path, by renaming it there, and notes that it is no file of
// sessctl.
func (s *scene) put(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	s.foreign = append(s.foreign, to)
}

// stage copies a model of a store, with its log if there is one, and what stands ready to
// take its place.
func stage(t *testing.T, model, other string) *scene {
	t.Helper()
	base := t.TempDir()
	s := &scene{folder: filepath.Join(base, "home"), keep: filepath.Join(base, "keep", "session.db"), other: filepath.Join(base, "ready", "other.db")}
	s.path = filepath.Join(s.folder, "session.db")
	for _, path := range []string{s.path, s.keep, s.other} {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{model: s.path, model + "-wal": s.path + "-wal", other: s.other, other + "-wal": s.other + "-wal"} {
		content, err := os.ReadFile(from)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		if err == nil && strings.HasPrefix(to, s.path) {
			err = os.Link(to, s.keep+strings.TrimPrefix(to, s.path))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// contentOf is what a database says when it is opened from a copy; with is the log to open it
// with, "" for none.
func contentOf(t *testing.T, path, with string) (text string) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "aside.db")
	for from, to := range map[string]string{path: aside, with: aside + "-wal"} {
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		if err != nil && from == path {
			return "nothing"
		}
	}
	defer func() {
		if recover() != nil {
			text = "unreadable"
		}
	}()
	return agentDump(panicking{t}, aside)
}

type panicking struct{ *testing.T }

func (panicking) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// mischiefs are what somebody does to a store meanwhile.
var mischiefs = []struct {
	name string
	log  bool // of databases in WAL mode
	do   func(t *testing.T, s *scene)
}{
	{"nothing", false, func(*testing.T, *scene) {}},
	{"another database over it", false, func(t *testing.T, s *scene) { s.put(t, s.other, s.path) }},
	{"a copy over it", false, func(t *testing.T, s *scene) {
		copyOfFile(t, s.keep, s.path+".copy")
		s.put(t, s.path+".copy", s.path)
	}},
	{"deleted", false, func(t *testing.T, s *scene) { done(t, os.Remove(s.path)) }},
	{"moved away", false, func(t *testing.T, s *scene) { done(t, os.Rename(s.path, s.path+".moved")) }},
	{"moved away and back", false, func(t *testing.T, s *scene) {
		done(t, os.Rename(s.path, s.path+".moved"))
		done(t, os.Rename(s.path+".moved", s.path))
	}},
	{"moved away, another in its place", false, func(t *testing.T, s *scene) {
		done(t, os.Rename(s.path, s.path+".moved"))
		s.put(t, s.other, s.path)
	}},
	{"a link in its place", false, func(t *testing.T, s *scene) {
		done(t, os.Rename(s.path, s.path+".moved"))
		done(t, os.Symlink(s.other, s.path))
	}},
	{"a link to itself in its place", false, func(t *testing.T, s *scene) {
		done(t, os.Rename(s.path, s.path+".moved"))
		done(t, os.Symlink(s.path+".moved", s.path))
	}},
	{"another folder in place of its own", false, func(t *testing.T, s *scene) {
		done(t, os.Rename(s.folder, s.folder+".moved"))
		done(t, os.Mkdir(s.folder, 0o700))
		s.put(t, s.other, s.path)
	}},
	{"its folder moved away", false, func(t *testing.T, s *scene) { done(t, os.Rename(s.folder, s.folder+".moved")) }},
	{"another log over its own", true, func(t *testing.T, s *scene) { s.put(t, s.other+"-wal", s.path+"-wal") }},
	{"another log over its own, and its index", true, func(t *testing.T, s *scene) {
		s.put(t, s.other+"-wal", s.path+"-wal")
		done(t, os.WriteFile(s.other, []byte("index"), 0o600))
		s.put(t, s.other, s.path+"-shm")
	}},
	{"its log deleted", true, func(t *testing.T, s *scene) { done(t, os.Remove(s.path+"-wal")) }},
	{"another index over its own", true, func(t *testing.T, s *scene) {
		done(t, os.WriteFile(s.other, []byte("index"), 0o600))
		s.put(t, s.other, s.path+"-shm")
	}},
	{"its index deleted", true, func(t *testing.T, s *scene) { done(t, os.Remove(s.path+"-shm")) }},
}

func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func copyOfFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	done(t, err)
	done(t, os.WriteFile(to, content, 0o600))
}

// untold says in what an outcome is not what it says it is, "" where it is true. before and
// after are what the store says without and with the change, backup what the backup does.
func (s *scene) untold(t *testing.T, before, after, backup string, outcome error, placed map[string]string) string {
	t.Helper()
	own := contentOf(t, s.keep, s.keep+"-wal")
	here := contentOf(t, s.path, s.path+"-wal")
	info, err := os.Lstat(s.path)
	regular := err == nil && info.Mode().IsRegular()
	text := ""
	if p, ok := errors.AsType[*problem.Error](outcome); ok {
		text = p.What + ". " + p.Next
	}
	for path, content := range placed {
		if now, err := os.ReadFile(path); err != nil || string(now) != content {
			return path + ", which somebody put there, is not what it was"
		}
	}
	if outcome != nil && strings.Contains(text, ".backup ") {
		for _, folder := range []string{s.folder, s.folder + ".moved"} {
			if got := contentOf(t, filepath.Join(folder, "session.db.backup"), ""); got != "nothing" && got != backup {
				return "the backup that is named holds something else"
			}
		}
	}
	switch {
	case outcome == nil && (here != after || !regular):
		return "told as done, and what is there is something else"
	case outcome == nil:
		return ""
	case problem.ClassOf(outcome) != problem.Busy:
		return fmt.Sprintf("class %d: %v", problem.ClassOf(outcome), outcome)
	case strings.Contains(text, "Nothing was changed"):
		if own != before {
			return "told as unchanged, and changed: " + text
		}
	case strings.Contains(text, "in the file that was there before"):
		old, _ := os.Stat(s.keep)
		if own == before || own == "unreadable" || regular && os.SameFile(old, info) {
			return "told as in the old file, and is not: " + text
		}
	case strings.Contains(text, "for the rest"):
		if alone := contentOf(t, s.path, ""); own != alone || own == before || own == "unreadable" {
			return "told as done in part, and is not: " + text
		}
	case strings.Contains(text, "before that"):
		if contentOf(t, s.path, "") != after {
			return "told as done but for the log, and is not: " + text
		}
	default:
		return "nothing is told: " + text
	}
	return ""
}

// TestReplacedAtAnyStep moves files about at every step of a repair and of an undo. What
// is told afterwards is what is there, and nothing that somebody put there is touched.
func TestReplacedAtAnyStep(t *testing.T) {
	type round struct {
		variant, do string
		step        int
		mischief    int
	}
	variants := map[string]func(t *testing.T, path string){
		"WAL":                     func(t *testing.T, path string) { leakyStore(t, path) },
		"rollback journal":        func(t *testing.T, path string) { leakyStore(t, path, agenttest.RollbackJournal()) },
		"WAL, in parts":           func(t *testing.T, path string) { leakyStore(t, path) },
		"WAL, a log left behind":  func(t *testing.T, path string) { leakyStore(t, path); leaveLog(t, path) },
		"rollback, in parts":      func(t *testing.T, path string) { leakyStore(t, path, agenttest.RollbackJournal()) },
		"WAL, a log and in parts": func(t *testing.T, path string) { leakyStore(t, path); leaveLog(t, path) },
	}
	other := filepath.Join(t.TempDir(), "other.db")
	db, err := agenttest.Create(other, 18)
	done(t, err)
	_, err = agenttest.WriteLeaky(db, agenttest.Random(99, 3))
	done(t, errors.Join(err, db.Close()))
	leaveLog(t, other)

	type told struct{ model, before, after string }
	models := map[string]*told{}
	var rounds []round
	for name, build := range variants {
		m := &told{model: filepath.Join(t.TempDir(), "session.db")}
		build(t, m.model)
		models[name] = m
		restore := inParts(name)
		s := stage(t, m.model, other)
		m.before = contentOf(t, s.path, s.path+"-wal")
		for _, do := range []string{"repair", "undo"} {
			steps := 0
			repair.AtStep(func(string) { steps++ })
			done(t, work(do, s.path))
			if do == "repair" {
				m.after = contentOf(t, s.path, s.path+"-wal")
			}
			for step := range steps {
				for mischief, of := range mischiefs {
					if !of.log || strings.HasPrefix(name, "WAL") {
						rounds = append(rounds, round{name, do, step, mischief})
					}
				}
			}
		}
		restore()
	}
	repair.AtStep(func(string) {})
	source := rand.New(rand.NewPCG(1, 2))
	source.Shuffle(len(rounds), func(i, j int) { rounds[i], rounds[j] = rounds[j], rounds[i] })
	rounds = rounds[:min(len(rounds), campaign.Rounds(100, 1000))]
	untrue := 0
	for _, r := range rounds {
		m := models[r.variant]
		s := stage(t, m.model, other)
		restore := inParts(r.variant)
		before, after := m.before, m.after
		if r.do == "undo" {
			repair.AtStep(func(string) {})
			done(t, work("repair", s.path))
			before, after = after, before
		}
		placed, n, at := map[string]string{}, 0, ""
		repair.AtStep(func(step string) {
			if n++; n != r.step+1 {
				return
			}
			at = step
			mischiefs[r.mischief].do(t, s)
			for _, path := range s.foreign {
				content, err := os.ReadFile(path)
				done(t, err)
				placed[path] = string(content)
			}
		})
		err := work(r.do, s.path)
		repair.AtStep(func(string) {})
		restore()
		if wrong := s.untold(t, before, after, m.before, err, placed); wrong != "" {
			untrue++
			t.Errorf("%s of %s, %s at step %d (%s): %s", r.do, r.variant, mischiefs[r.mischief].name, r.step, at, wrong)
		}
	}
	t.Logf("%d of %d told truthfully", len(rounds)-untrue, len(rounds))
}

// work repairs a store, or takes that back.
func work(do, path string) error {
	if do == "undo" {
		_, err := repairtest.Undo(path, path+".receipt.json")
		return err
	}
	_, _, err := repairtest.Repair(path)
	return err
}

// inParts makes small transactions where the name of a variant says so.
func inParts(variant string) (restore func()) {
	if strings.Contains(variant, "parts") {
		return repair.SmallBatches()
	}
	return func() {}
}

// leaveLog leaves a log with a commit beside a database, as a process that was killed does.
func leaveLog(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	done(t, err)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"pragma wal_autocheckpoint=0", "update sessions set title = title || ' and on'"} {
		_, err := db.Exec(statement)
		done(t, err)
	}
	for _, suffix := range []string{"", "-wal"} {
		copyOfFile(t, path+suffix, path+".aside"+suffix)
	}
	done(t, db.Close())
	for _, suffix := range []string{"", "-wal"} {
		done(t, os.Rename(path+".aside"+suffix, path+suffix))
	}
}
