package render

import (
	"net/url"
	"path/filepath"
	"strings"
)

// sourceRoot is the name that readers of SARIF expect for the folder that relative
// paths begin at.
const sourceRoot = "%SRCROOT%"

// artifactLocation is where the store at a path stands: below the folder a relative
// reference, because GitHub finds nothing else in a repository; elsewhere a file URI.
// Standard input is no file and has only a name.
func artifactLocation(path, folder string) sarifArtifactLocation {
	if path == "-" {
		return sarifArtifactLocation{URI: "stdin"}
	}
	if folder != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if below, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(below) {
			return sarifArtifactLocation{URI: relativeURI(below), Base: sourceRoot}
		}
	}
	if !filepath.IsAbs(path) {
		return sarifArtifactLocation{URI: relativeURI(path)}
	}
	return sarifArtifactLocation{URI: fileURI(path)}
}

// relativeURI escapes a path; the bytes of a name that are no UTF-8 too.
func relativeURI(path string) string {
	return (&url.URL{Path: filepath.ToSlash(path)}).String()
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/data
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// folderURI ends in a slash, as a base has to.
func folderURI(path string) string { return strings.TrimSuffix(fileURI(path), "/") + "/" }
