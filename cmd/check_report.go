package cmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
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
	path   string
	file   *atomicfile.File
	stream io.Writer // instead of file: the path is where a stream of the program goes
	failed error     // instead of file: why there is none
}

// openReports begins the files of --report. Nothing stands under their names before
// they are committed. None may be a file that the run reads or writes otherwise.
func (p *program) openReports(ctx context.Context, stores []string) (reportFiles, error) {
	var all reportFiles
	taken := p.taken(stores, p.config.Baseline, p.config.WriteBaseline)
	for _, word := range p.config.Report {
		r, err := p.openReport(ctx, word, taken)
		if err != nil {
			all.discard()
			return nil, err
		}
		all, taken = append(all, r), append(taken, r.path)
	}
	return all, nil
}

func (p *program) openReport(ctx context.Context, word string, taken []string) (reportFile, error) {
	name, path, _ := strings.Cut(word, "=")
	format := render.FindCheckFormat(name)
	switch {
	case path == "":
		return reportFile{}, problem.New(problem.Usage, "Write it as FORMAT=FILE: --report json=findings.json.", "--report %q names no file", word)
	case format == nil:
		return reportFile{}, problem.New(problem.Usage, "Use one of these: "+strings.Join(render.CheckFormatNames(), ", ")+".", "--report: there is no format %q", name)
	case path == "-":
		return reportFile{}, problem.New(problem.Usage, "Use --format "+name+" to print it, or ./- for a file that is called so.", "--report %s names no file", word)
	}
	if stream := p.streamAt(path); stream != nil {
		return reportFile{format: format, path: path, stream: stream}, nil
	}
	if p.isTaken(ctx, path, taken) {
		return reportFile{}, problem.New(problem.Usage, "Name another file.",
			"--report %s would overwrite a store, a baseline, another report, the configuration or standard input", word)
	}
	file, err := atomicfile.Create(ctx, path, 0o666) // less the umask
	switch {
	case ctx.Err() != nil:
		return reportFile{}, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return reportFile{}, problem.New(problem.Usage, "Name a file in a folder that exists.", "the report %s cannot be written: %v", path, problem.Reason(err))
	}
	return reportFile{format: format, path: path, file: file, failed: err}, nil
}

// Write implements io.Writer. What goes wrong with a file ends neither the run nor
// the other reports: the file remembers it, and is not committed.
func (r reportFile) Write(text []byte) (int, error) {
	switch {
	case r.stream != nil:
		return r.stream.Write(text)
	case r.file != nil:
		_, _ = r.file.Write(text)
	}
	return len(text), nil
}

// commit gives the reports their names, each that is whole.
func (all reportFiles) commit() error {
	var failed error
	for i, r := range all {
		err := r.failed
		if r.file != nil {
			err = r.file.Commit()
			all[i].file = nil
		}
		if err != nil {
			failed = errors.Join(failed, problem.New(problem.Unreadable, "The findings above are complete.",
				"the report %s could not be written: %v", r.path, problem.Reason(err)))
		}
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
		Adopts:  c.WriteBaseline != "",
		Fails:   func(f *check.Finding) bool { return p.failing([]*check.Finding{f}) != exitOK },
		Started: started, StepSummary: p.newStepSummary(),
	}
	opts.Folder, _ = os.Getwd() // without it, paths stay as they were named
	add := func(format *render.CheckFormat, opts render.CheckOptions) {
		writers, roots = append(writers, format.Check(opts)), roots || format.Roots
	}
	add(render.FindCheckFormat(c.Format), opts)
	for _, r := range reports {
		opts.Screen, opts.Quiet = ui.NewScreen(r, ui.ColorNever, p.getenv), false
		add(r.format, opts)
	}
	return writers, roots
}
