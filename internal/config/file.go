package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
)

// largest is more than any configuration file has, in bytes.
const largest = 1 << 20

// localFile is looked for in the current folder.
const localFile = ".sessctl.yaml"

// Files are the places where a configuration file is looked for when none is
// named. The first one that exists is read.
func Files(getenv func(string) string) []string {
	files := []string{localFile}
	folder := getenv("XDG_CONFIG_HOME")
	if home := Home(getenv); folder == "" && home != "" {
		folder = filepath.Join(home, ".config")
	}
	if folder != "" {
		files = append(files, filepath.Join(folder, "sessctl", "config.yaml"))
	}
	return files
}

// find reads the file that is named by the flag or by SESSCTL_CONFIG, which
// must exist, or the first of the usual ones. The path is "" if there is none.
func find(getenv func(string) string, flag string) (path string, data []byte, err error) {
	named := flag
	if named == "" {
		named = getenv(EnvName("config"))
	}
	if named != "" {
		data, err = atomicfile.ReadRegular(named, largest)
		return named, data, notReadable(named, err)
	}
	for _, path := range Files(getenv) {
		data, err := atomicfile.ReadRegular(path, largest)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		return path, data, notReadable(path, err)
	}
	return "", nil, nil
}

// mend is what to do about a configuration file that cannot be read.
const mend = "Correct it, or name another file with --config."

func notReadable(path string, err error) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Usage, mend, "the configuration file %s cannot be read: %s", path, problem.Reason(err))
}
