// Package release tests what a release has: the program as it is built, the script that
// installs it, and the action. make test-dist runs it.
package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// releaseVersion is the release that tests install.
const releaseVersion = "1.2.3"

// release is a server that has one release, as .goreleaser.yaml makes it.
type release struct {
	url      string
	files    map[string][]byte // by name
	requests atomic.Int32
}

// serveRelease makes the release. The archive for this machine holds the program as it
// really is, every other one a text that names its system.
func serveRelease(t *testing.T) *release {
	t.Helper()
	r := &release{files: map[string][]byte{}}
	var sums strings.Builder
	for system, name := range archiveNames(t) {
		program, data := "sessctl", []byte(system)
		if system == runtime.GOOS+"_"+runtime.GOARCH {
			data = builtProgram(t)
		}
		if strings.HasPrefix(system, "windows") {
			program += ".exe"
		}
		r.files[name] = archive(t, strings.HasSuffix(name, ".zip"), program, data)
		fmt.Fprintf(&sums, "%x  %s\n%x  %s.sbom.json\n", sha256.Sum256(r.files[name]), name, sha256.Sum256(nil), name)
		fmt.Fprintf(&sums, "%x  sessctl_%s_%s.deb\n", sha256.Sum256(nil), releaseVersion, system)
	}
	r.files["checksums.txt"] = []byte(sums.String())
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// serve answers as GitHub does below the address of a project's releases.
func (r *release) serve(w http.ResponseWriter, request *http.Request) {
	r.requests.Add(1)
	for _, folder := range []string{"/latest/download/", "/download/v" + releaseVersion + "/"} {
		if data, ok := r.files[strings.TrimPrefix(request.URL.Path, folder)]; ok {
			_, _ = w.Write(data)
			return
		}
	}
	http.NotFound(w, request)
}

// spoil changes every archive behind the back of the checksums.
func (r *release) spoil() {
	for name := range r.files {
		if name != "checksums.txt" {
			r.files[name] = append(slices.Clone(r.files[name]), 0)
		}
	}
}

// archiveNames are the names of all archives of a release by system, as goreleaser
// makes them from .goreleaser.yaml.
func archiveNames(t *testing.T) map[string]string {
	t.Helper()
	var config struct {
		Project string `yaml:"project_name"`
		Builds  []struct{ Goos, Goarch []string }
		// The default of the template is that of goreleaser v2 for these systems
		// (goreleaser.com/customization/archive).
		Archives []struct {
			Name      string `yaml:"name_template"`
			Wrap      any    `yaml:"wrap_in_directory"`
			Formats   []string
			Overrides []struct {
				Goos    string
				Formats []string
			} `yaml:"format_overrides"`
		}
		Checksum struct {
			Name string `yaml:"name_template"`
		}
	}
	readYAML(t, "../../.goreleaser.yaml", &config)
	archives := config.Archives[0]
	if config.Checksum.Name != "checksums.txt" || archives.Wrap != nil && archives.Wrap != false {
		t.Fatalf("install.sh expects checksums.txt and an archive without a folder: %+v", config)
	}
	name := template.Must(template.New("").Parse(cmp.Or(archives.Name, "{{ .ProjectName }}_{{ .Version }}_{{ .Os }}_{{ .Arch }}")))
	names := map[string]string{}
	for _, goos := range config.Builds[0].Goos {
		format := archives.Formats[0]
		for _, o := range archives.Overrides {
			if o.Goos == goos {
				format = o.Formats[0]
			}
		}
		for _, goarch := range config.Builds[0].Goarch {
			var text strings.Builder
			err := name.Execute(&text, map[string]string{"ProjectName": config.Project, "Version": releaseVersion, "Os": goos, "Arch": goarch, "Amd64": "v1"})
			if err != nil {
				t.Fatal(err)
			}
			names[goos+"_"+goarch] = text.String() + "." + format
		}
	}
	return names
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// archive packs one program as a release does.
func archive(t *testing.T, zipped bool, name string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	if zipped {
		w := zip.NewWriter(&out)
		file, _ := w.Create(name)
		_, err = file.Write(data)
		err = cmp.Or(err, w.Close())
	} else {
		g, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		w := tar.NewWriter(g)
		err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))})
		_, werr := w.Write(data)
		err = cmp.Or(err, werr, w.Close(), g.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// builtProgram is the program as a release has it for this machine, built once.
func builtProgram(t *testing.T) []byte {
	t.Helper()
	data, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var buildProgram = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "sessctl")
	flags := "-s -w -X github.com/sessctl/sessctl/cmd.buildVersion=" + releaseVersion
	build := exec.Command("go", "build", "-trimpath", "-ldflags", flags, "-o", path, "github.com/sessctl/sessctl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(path)
})

// writeStore writes a database of docker agent with one session that a worker helped with.
func writeStore(t *testing.T, path string, write func(*agenttest.DB, agenttest.Program) (agenttest.Written, error)) {
	t.Helper()
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	task := agenttest.Task{Agent: "worker", Text: "Make it smaller.", Steps: []agenttest.Step{{Text: "It is smaller now."}}}
	_, err = write(db, agenttest.Program{Title: "Optimize my Dockerfile", Turns: []agenttest.Turn{{
		User: "Optimize my Dockerfile",
		Steps: []agenttest.Step{
			{Text: "I ask the worker.", Calls: []agenttest.Call{{ID: "toolu_r1", Tool: "transfer_task", Task: &task}}},
			{Text: "Done."},
		},
	}}})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
