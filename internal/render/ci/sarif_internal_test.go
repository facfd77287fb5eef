package ci

import (
	"path/filepath"
	"testing"
)

func TestArtifactLocation(t *testing.T) {
	for _, tc := range []struct {
		path, folder string
		want         sarifArtifactLocation
	}{
		{"session.db", "/src", sarifArtifactLocation{URI: "session.db", Base: sourceRoot}},
		{"./data/../session.db", "/src", sarifArtifactLocation{URI: "session.db", Base: sourceRoot}},
		{"/src/data/a b.db", "/src", sarifArtifactLocation{URI: "data/a%20b.db", Base: sourceRoot}},
		{"/src/data", "/", sarifArtifactLocation{URI: "src/data", Base: sourceRoot}},
		{"a:b?c#d%e\x1b\xff[é].db", "/src", sarifArtifactLocation{URI: "./a:b%3Fc%23d%25e%1B%FF%5B%C3%A9%5D.db", Base: sourceRoot}},
		{".", "/src", sarifArtifactLocation{URI: ".", Base: sourceRoot}},
		{"../session.db", "/src", sarifArtifactLocation{URI: "file:///session.db"}},
		{"/home/me/session.db", "/src", sarifArtifactLocation{URI: "file:///home/me/session.db"}},
		{"/workshop/session.db", "/src", sarifArtifactLocation{URI: "file:///workshop/session.db"}},
		{"/home/me/session.db", "", sarifArtifactLocation{URI: "file:///home/me/session.db"}},
		{"data/session.db", "", sarifArtifactLocation{URI: "data/session.db"}},
		{"-", "/src", sarifArtifactLocation{URI: "stdin"}},
	} {
		if got := artifactLocation(filepath.FromSlash(tc.path), filepath.FromSlash(tc.folder)); got != tc.want {
			t.Errorf("%q in %q: got %+v, want %+v", tc.path, tc.folder, got, tc.want)
		}
	}
	for path, want := range map[string]string{"/": "file:///", "/src": "file:///src/", "C:/a b": "file:///C:/a%20b/"} {
		if got := folderURI(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestSemanticVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "v0.10.0": "0.10.0", "v0.1.0-3-gab12": "0.1.0-3-gab12", "1.0.0-rc.1+build": "1.0.0-rc.1+build",
		"v0.0.0-20261121185814-443f47e0aaaa+dirty": "0.0.0-20261121185814-443f47e0aaaa+dirty",
		"(devel)": "", "443f47e": "", "1.2": "", "01.2.3": "", "1.2.3 ": "",
	} {
		if got := semanticVersion(version); got != want {
			t.Errorf("%q: got %q, want %q", version, got, want)
		}
	}
}
