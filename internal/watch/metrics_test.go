package watch

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/session"
)

// noted are the metrics of a store that was checked, and of one that cannot be read.
func notedMetrics() *Metrics {
	m := &Metrics{}
	all := Tally{Sessions: map[check.Outlook]int{check.Resumes: 3, check.Refused: 1}, Findings: []*check.Finding{found("701"), found("701"), found("101")}}
	m.noteCheck("a.db", &Look{Store: &session.Store{Bytes: 4096}, Took: 250 * time.Millisecond}, all, time.Unix(1_800_000_000, 0))
	m.noteFailure("b\"\n.db")
	return m
}

func TestMetricsAreAsPrometheusWantsThem(t *testing.T) {
	m := notedMetrics()
	if problems, err := testutil.CollectAndLint(m); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	err := testutil.CollectAndCompare(m, strings.NewReader(`
# HELP sessctl_findings Findings that are not in the baseline.
# TYPE sessctl_findings gauge
sessctl_findings{rule="SC101",severity="error",store="a.db"} 1
sessctl_findings{rule="SC701",severity="error",store="a.db"} 2
# HELP sessctl_last_check_duration_seconds How long the last check took.
# TYPE sessctl_last_check_duration_seconds gauge
sessctl_last_check_duration_seconds{store="a.db"} 0.25
# HELP sessctl_last_success_timestamp_seconds When the store was last checked without an error.
# TYPE sessctl_last_success_timestamp_seconds gauge
sessctl_last_success_timestamp_seconds{store="a.db"} 1.8e+09
# HELP sessctl_store_readable 1 if the store could be read at the last try, else 0.
# TYPE sessctl_store_readable gauge
sessctl_store_readable{store="a.db"} 1
sessctl_store_readable{store="b\"\n.db"} 0
`), "sessctl_findings", "sessctl_last_check_duration_seconds", "sessctl_last_success_timestamp_seconds", "sessctl_store_readable")
	if err != nil {
		t.Error(err)
	}
	m.noteCheck("a.db", &Look{Store: &session.Store{}}, Tally{}, time.Unix(1_800_000_001, 0))
	if n := testutil.CollectAndCount(m, "sessctl_findings"); n != 0 {
		t.Errorf("%d series of findings that are gone", n)
	}
}

// Without a host, nobody but this machine is served.
func TestMetricsAreServedToThisMachine(t *testing.T) {
	at, stop, err := notedMetrics().Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if host, _, _ := net.SplitHostPort(at.String()); !net.ParseIP(host).IsLoopback() {
		t.Errorf("served at %v", at)
	}
	ask, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at.String()+"/metrics", nil)
	ask.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if kind := answer.Header.Get("Content-Type"); err != nil || !strings.HasPrefix(kind, "application/openmetrics-text") || !strings.HasSuffix(string(text), "# EOF\n") {
		t.Errorf("%v, %s:\n%s", err, kind, text)
	}
	for _, wrong := range []string{"9464", "nowhere.invalid:1", at.String()} {
		if _, _, err := notedMetrics().Listen(wrong); err == nil {
			t.Errorf("%s: served", wrong)
		}
	}
}
