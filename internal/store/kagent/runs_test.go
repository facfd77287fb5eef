package kagent_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// TestWhoseTasks is about tasks that name no user: they are those of the only user who
// has a session with their id, else of whom their metadata name, or in whose session
// their invocation is.
func TestWhoseTasks(t *testing.T) {
	ofUser := func(user, invocation string) []string {
		return []string{
			fmt.Sprintf("insert into session(id, user_id, created_at) values('s', '%s', '2026-08-03 09:00:00+00:00')", user),
			fmt.Sprintf(`insert into event(id, user_id, session_id, created_at, data) values('%s', '%s', 's', '2026-08-03 09:00:00+00:00', `+
				`'{"invocation_id":"%s","author":"user","content":{"role":"user","parts":[{"text":"x"}]}}')`, invocation, user, invocation),
		}
	}
	task := func(id, metadata string) string {
		return fmt.Sprintf(`insert into task(id, session_id, data) values('%s', 's', '{"status":{"state":"completed"},"metadata":{%s}}')`, id, metadata)
	}
	tasks := []string{task("named", `"kagent_user_id":"v"`), task("run", `"adk_invocation_id":"i"`), task("lost", "")}
	for _, c := range []struct {
		name  string
		users []string
		want  map[string][]string
	}{
		{"one user", ofUser("u", "i"), map[string][]string{"u": {"named", "run", "lost"}}},
		{"two users", append(ofUser("u", "i"), ofUser("v", "j")...), map[string][]string{"u": {"run"}, "v": {"named"}}},
	} {
		for _, generation := range []kagenttest.Generation{kagenttest.V05, kagenttest.Current} {
			path, _ := build(t, kagenttest.Program{}, kagenttest.Form{Generation: generation, Times: kagenttest.GORM})
			run(t, path, append(c.users, tasks...)...)
			_, trees := read(t, path)
			got := map[string][]string{}
			for _, tree := range trees {
				for i := range tree.Root().Runs {
					got[tree.Root().User] = append(got[tree.Root().User], tree.Root().Runs[i].ID)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %s: %s", c.name, generation, diff)
			}
		}
	}
}
