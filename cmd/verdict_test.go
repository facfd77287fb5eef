package cmd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// TestOneVerdict: whatever runtimes store, and whoever is asked about it in which
// mode, `check --explain-request` and `view --model-input` say the same of a request,
// and neither says that it is accepted where a finding says that it is refused.
func TestOneVerdict(t *testing.T) {
	campaign.ShowsNoRace(t)
	stores := map[string]string{}
	for name, build := range verdictStores {
		stores[name] = filepath.Join(t.TempDir(), "store.db")
		if err := build(stores[name], uint64(campaign.Rounds(6, 60))); err != nil {
			t.Fatal(err)
		}
	}
	code, out, stderr := run(t, "export", stores["ADK"])
	if code != 0 {
		t.Fatalf("export ends with %d: %s", code, stderr)
	}
	stores["canonical"] = filepath.Join(t.TempDir(), "stream.ndjson")
	if err := os.WriteFile(stores["canonical"], []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for name, path := range stores {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, id := range sessionsOf(t, path) {
				for range campaign.Rounds(2, 4) {
					var asked []string
					if n := rng.IntN(len(rules.Profiles) + 1); n > 0 {
						asked = append(asked, "--profile", rules.Profiles[n-1].Name)
					}
					asked = append(asked, "--as-is="+[]string{"true", "false"}[rng.IntN(2)], "--format", "json")
					said[oneVerdict(t, path, id, asked)]++
				}
			}
		})
	}
	t.Logf("verdicts: %v", said)
	if !t.Failed() && (said["accept"] == 0 || said["reject"] == 0 || said["risk"] == 0) {
		t.Errorf("not every verdict occurred: %v", said)
	}
}

// verdictStores build stores of random sessions, healthy and damaged.
var verdictStores = map[string]func(path string, sessions uint64) error{
	"docker agent": func(path string, sessions uint64) error {
		db, err := agenttest.Create(path, 29)
		for seed := uint64(0); err == nil && seed < sessions; seed++ {
			write := agenttest.WriteFixed
			if seed%2 == 0 {
				write = agenttest.WriteLeaky
			}
			_, err = write(db, agenttest.Random(seed, 20))
		}
		return errors.Join(err, db.Close())
	},
	"ADK": func(path string, sessions uint64) error {
		list := adktest.Scripts()
		for seed := range sessions {
			list = append(list, adktest.Random(seed, 10))
		}
		return adktest.Create(path, adktest.PS, slices.DeleteFunc(list, func(s adktest.Session) bool { return adktest.PS.Lacks(s) != "" })...)
	},
	"Spring AI Session": func(path string, sessions uint64) error {
		db, err := springtest.Create(path, springtest.Form{})
		for seed := uint64(0); err == nil && seed < sessions; seed++ {
			springtest.Random(db, fmt.Sprint("s", seed), seed, 4)
		}
		return errors.Join(err, db.Close())
	},
}

func sessionsOf(t *testing.T, path string) []string {
	t.Helper()
	var list struct{ Sessions []struct{ ID string } }
	code, out, stderr := run(t, "ls", path, "--format", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list.Sessions) == 0 {
		t.Fatalf("ls ends with %d, %v: %s", code, err, stderr)
	}
	var ids []string
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

// oneVerdict holds the two commands against each other, and against the findings.
func oneVerdict(t *testing.T, path, id string, asked []string) string {
	t.Helper()
	var checked struct {
		Findings []struct {
			Rule, Severity, Session, Profile string
			Error                            string `json:"provider_error"`
		}
		Requests []struct{ Verdict, Error, Voice, Profile string }
	}
	var viewed struct {
		Profile struct{ Name string }
		Verdict struct {
			Verdict, Error, Risk, Voice string
			Accepted                    bool
		}
	}
	for command, result := range map[string]any{"check": &checked, "view": &viewed} {
		args := []string{"check", path, "--session", id, "--explain-request", "--fail-on", "never"}
		if command == "view" {
			args = []string{"view", path, id, "--model-input"}
		}
		code, out, stderr := run(t, append(args, asked...)...)
		if err := json.Unmarshal([]byte(out), result); err != nil || code != 0 {
			t.Fatalf("%v %v ends with %d, %v: %s", args, asked, code, err, stderr)
		}
	}
	first, v := checked.Requests[0], viewed.Verdict
	if diff := cmp.Diff([]string{first.Profile, first.Verdict, first.Voice}, []string{viewed.Profile.Name, v.Verdict, v.Voice}); diff != "" {
		t.Errorf("%s %v: check and view differ: %s", id, asked, diff)
	}
	if v.Accepted != (v.Verdict != "reject") || v.Verdict == "reject" && v.Error != first.Error || (v.Verdict == "risk") != (v.Risk != "") {
		t.Errorf("%s %v: the view's verdict is %+v, check's %+v", id, asked, v, first)
	}
	for _, f := range checked.Findings {
		profile := rules.FindProfile(f.Profile)
		if f.Session != id || profile == nil {
			continue
		}
		_, minds := profile.Levels[f.Rule]
		if refused := f.Severity == "error" && (minds || f.Error != ""); refused && first.Verdict != "reject" {
			t.Errorf("%s %v: %s is an error for %s, and the request is said to be %s", id, asked, f.Rule, f.Profile, first.Verdict)
		}
	}
	return first.Verdict
}
