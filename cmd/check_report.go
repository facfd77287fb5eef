package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

// addReportFlag declares the formats that are written into files besides.
func addReportFlag(cmd *cobra.Command) {
	cmd.Flags().StringArray("report", nil, "also write a report, given as `FORMAT=FILE`, in any format of --format;\nmay be given several times")
	completeFlag(cmd, "report", completeReport)
}

// reportFiles are the reports of a run besides what it prints.
type reportFiles []reportFile

type reportFile struct {
	format *render.CheckFormat
	file   *atomicfile.File
}

// openReports begins the files of --report. Nothing stands under their names before
// they are committed. None may be a store: that would be lost.
func (p *program) openReports(stores []string) (reportFiles, error) {
	var all reportFiles
	paths := p.baselinePaths()
	for _, word := range p.config.Report {
		r, path, err := openReport(word, slices.Concat(stores, paths))
		if err != nil {
			all.discard()
			return nil, err
		}
		all, paths = append(all, r), append(paths, path)
	}
	return all, nil
}

func openReport(word string, taken []string) (reportFile, string, error) {
	name, path, _ := strings.Cut(word, "=")
	format := render.FindCheckFormat(name)
	switch {
	case path == "":
		return reportFile{}, "", problem.New(problem.Usage, "Write it as FORMAT=FILE: --report json=findings.json.", "--report %q names no file", word)
	case format == nil:
		return reportFile{}, "", problem.New(problem.Usage, "Use one of these: "+strings.Join(render.CheckFormatNames(), ", ")+".", "--report: there is no format %q", name)
	case slices.ContainsFunc(taken, func(other string) bool { return sameFile(path, other) }), registry.IsDatabase(path):
		return reportFile{}, "", problem.New(problem.Usage, "Name another file.", "--report %s would overwrite a store, a baseline or another report, %s", word, path)
	}
	file, err := atomicfile.Create(path, 0o644)
	if err != nil {
		var reason *fs.PathError
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return reportFile{}, "", problem.New(problem.Usage, "Name a file in a folder that you may write to.", "the report %s cannot be written: %v", path, err)
	}
	return reportFile{format, file}, path, nil
}

// sameFile reports whether two paths lead to one file, or would.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second) && first.Mode().IsRegular()
}

// commit gives the reports their names.
func (all reportFiles) commit() error {
	var failed error
	for i := range all {
		if all[i].file == nil {
			continue
		}
		if err := all[i].file.Commit(); err != nil {
			failed = errors.Join(failed, problem.New(problem.Unreadable, "The findings above are complete.", "a report could not be written: %v", err))
		}
		all[i].file = nil
	}
	return failed
}

// discard forgets the reports that were not committed.
func (all reportFiles) discard() {
	for i := range all {
		if all[i].file != nil {
			_ = all[i].file.Discard()
			all[i].file = nil
		}
	}
}

// unread is an error of a store for the reports.
func unread(path string, err error) render.Unread {
	m := messageOf(err)
	return render.Unread{Store: path, Message: m.Message, Next: m.Next, ExitCode: m.ExitCode}
}

// checkWriters are the writers of the format and of the reports, and whether one of
// them names every session.
func (p *program) checkWriters(reports reportFiles, several bool, started time.Time) (writers render.CheckWriters, roots bool) {
	c := p.config
	opts := render.CheckOptions{
		Screen: p.out, Tool: tool(), Home: p.home,
		Quiet: c.Quiet, MaxFindings: int(c.MaxFindings),
		Limited: c.Session != "" || c.Since != "" || c.Shard != "", Several: several,
		Fails:   func(f *check.Finding) bool { return p.failing([]*check.Finding{f}) != exitOK },
		Started: started, StepSummary: p.newStepSummary(),
	}
	opts.Folder, _ = os.Getwd() // without it, paths stay as they were named
	add := func(format *render.CheckFormat, opts render.CheckOptions) {
		writers, roots = append(writers, format.Check(opts)), roots || format.Roots
	}
	add(render.FindCheckFormat(c.Format), opts)
	for _, r := range reports {
		opts.Screen, opts.Quiet = ui.NewScreen(r.file, ui.ColorNever, p.getenv), false
		add(r.format, opts)
	}
	return writers, roots
}
