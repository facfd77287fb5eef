package watch

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sessctl/sessctl/internal/check"
)

// Metrics are what the last checks tell, for Prometheus. nil takes no notes.
type Metrics struct {
	mu     sync.Mutex
	stores map[string]*noted
}

// noted is what is told of a store.
type noted struct {
	readable       bool
	checks         int
	success        time.Time // zero before the first check
	seconds, bytes float64
	sessions       map[check.Outlook]int
	findings       map[[2]string]int // by rule and severity
}

var (
	descReadable = described("store_readable", "1 if the store could be read at the last try, else 0.")
	descChecks   = described("checks_total", "Checks of the store, or of those of its sessions that changed.")
	descSuccess  = described("last_success_timestamp_seconds", "When the store was last checked without an error.")
	descSeconds  = described("last_check_duration_seconds", "How long the last check took.")
	descBytes    = described("last_check_bytes", "Size of the store at the last check.")
	descSessions = described("sessions", "Sessions, without sub-sessions, by what becomes of their next request.", "verdict")
	descFindings = described("findings", "Findings that are not in the baseline.", "rule", "severity")
)

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("sessctl_"+name, help, append([]string{"store"}, labels...), nil)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, to) }

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for path, n := range m.stores {
		send := func(of *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(of, kind, value, append([]string{path}, labels...)...)
		}
		readable := 0.0
		if n.readable {
			readable = 1
		}
		send(descReadable, prometheus.GaugeValue, readable)
		send(descChecks, prometheus.CounterValue, float64(n.checks))
		if n.success.IsZero() {
			continue
		}
		send(descSuccess, prometheus.GaugeValue, float64(n.success.UnixMilli())/1000)
		send(descSeconds, prometheus.GaugeValue, n.seconds)
		send(descBytes, prometheus.GaugeValue, n.bytes)
		for verdict := check.Resumes; verdict <= check.Unloaded; verdict++ {
			send(descSessions, prometheus.GaugeValue, float64(n.sessions[verdict]), verdict.String())
		}
		for of, count := range n.findings {
			send(descFindings, prometheus.GaugeValue, float64(count), of[0], of[1])
		}
	}
}

func (m *Metrics) note(path string, change func(*noted)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stores == nil {
		m.stores = map[string]*noted{}
	}
	if m.stores[path] == nil {
		m.stores[path] = &noted{}
	}
	change(m.stores[path])
}

func (m *Metrics) noteCheck(path string, look *Look, all Tally, now time.Time) {
	findings := map[[2]string]int{}
	for _, f := range all.Findings {
		findings[[2]string{f.Rule.ID, f.Severity.String()}]++
	}
	m.note(path, func(n *noted) {
		*n = noted{true, n.checks + 1, now, look.Took.Seconds(), float64(look.Store.Bytes), all.Sessions, findings}
	})
}

func (m *Metrics) noteFailure(path string) { m.note(path, func(n *noted) { n.readable = false }) }

// Listen serves them at an address until stop is called; without a host, to this machine alone.
func (m *Metrics) Listen(address string) (at net.Addr, stop func(), err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, nil, err
	}
	all := prometheus.NewRegistry()
	all.MustRegister(m)
	paths := http.NewServeMux()
	paths.Handle("GET /metrics", promhttp.HandlerFor(all, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	server := &http.Server{Handler: paths, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return listener.Addr(), func() { _ = server.Close() }, nil
}
