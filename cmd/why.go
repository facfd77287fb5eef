package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
	"github.com/sessctl/sessctl/internal/why"
)

func newWhyCommand(p *program) *cobra.Command {
	var newest string
	cmd := &cobra.Command{
		Use:   "why [STORE] [SESSION | CALL | ERROR | -]",
		Short: "Say why a session does not resume, and what to type",
		Long: `Say on one screen whether a session resumes: what is wrong, where, what a repair
does, the command to type, and how to go back. Nothing is changed.

Without arguments, it is about the newest session of the usual stores and, if that
one resumes, about the newest that does not. Of a folder of Claude Code or Codex of 100 MB
or more, only the newest sessions are read, and the others counted. With - it reads the error that you
paste, up to Ctrl-D, says what it means and whether the session is the cause, also
without a store, and looks for the session that it came from; the text is not
stored and not sent anywhere. As an argument, put the error into single quotes: in
double quotes, a shell runs what is between backticks.

` + exitStatus("the session resumes, or the error is not about one", append(storeCodes, exitFindings)...),
		Example: `  sessctl why
  sessctl why -                      paste the error, then press Ctrl-D
  sessctl why session.db             the newest session of this store
  sessctl why toolu_01Y2             the session with this call
  sessctl why 'messages.2: ...'      an error text`,
		GroupID: groupRepair,
		RunE: func(cmd *cobra.Command, args []string) error {
			if newest != "" {
				args = append(args, "-"+newest)
			}
			return runWhy(cmd.Context(), p, args, cmd.ArgsLenAtDash() < 0)
		},
		ValidArgsFunction: p.completeView,
	}
	addFormatFlag(cmd, "text", "json")
	addStoreFlag(cmd)
	addProfileFlags(cmd)
	addAssumeDeadFlag(cmd)
	addDigitFlags(cmd.Flags(), &newest)
	return cmd
}

type whyRun struct {
	*program
	judge    rules.Judge
	paths    []string // of the stores that are searched
	piped    []byte   // a canonical stream on standard input
	name     string   // the session or the call that is meant, "" for none
	pasted   *errtext.Error
	named    bool // the stores are those of the arguments, or of the text
	search   why.Search
	sessions view.Search
	tree     *session.Tree               // of the session, where it was kept
	open     map[string]*registry.Opened // by path
	code     int                         // of stores that could not be read
}

func runWhy(ctx context.Context, p *program, args []string, pasted bool) error {
	judge, err := p.parseJudge()
	if err != nil {
		return err
	}
	if len(judge.Profiles) > 1 {
		p.printNote("this is about %s only, the first of --profile; `sessctl check` answers for all", judge.Profiles[0].Name)
	}
	w := &whyRun{program: p, judge: firstProvider(judge), open: map[string]*registry.Opened{}}
	rest, unread := w.takeStores(ctx, args)
	if err := w.takeQuestion(rest, pasted); err != nil {
		return err
	}
	if unread != nil {
		return w.printDiagnosis(w.unopenedDiagnosis(unread), unread)
	}
	if len(w.paths) == 0 {
		w.paths = w.hintedStores()
	}
	asked := w.search.Asked
	w.named = len(w.paths) > 0
	if asked != nil && asked.Kind != errtext.Unknown && !asked.InSession() && (!w.named || asked.Kind >= errtext.TooLong) && asked.Kind != errtext.Absent {
		return w.printDiagnosis(&why.Diagnosis{Asked: asked, Verdict: why.Elsewhere}, nil)
	}
	if len(w.paths) == 0 {
		if w.paths, err = registry.DefaultStores(ctx, p.home, p.config.Store); err != nil {
			nothing := w.unopenedDiagnosis(err)
			nothing.Verdict = why.NotFound
			if asked != nil && asked.Kind != errtext.Unknown {
				nothing.Cause = "no usual place has a session store (`sessctl stores` lists them), so none was searched"
			}
			if asked != nil && asked.Kind == errtext.Absent {
				nothing, err = &why.Diagnosis{Asked: asked, Verdict: why.Elsewhere}, nil
			}
			return w.printDiagnosis(nothing, err)
		}
	}
	if w.search.Asked == nil {
		w.newest = healthBelow / 4 //nolint:mnd // a second's work
	}
	d, unread, err := w.answerFrom(ctx, 0)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case unread != nil:
		return w.printDiagnosis(w.unopenedDiagnosis(unread), unread)
	case err != nil:
		return err
	}
	return w.printDiagnosis(d, nil)
}

// takeStores takes the store off the arguments. What is left is the question.
func (w *whyRun) takeStores(ctx context.Context, args []string) (rest []string, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	if len(args) == 2 && (args[0] == "-" && meansStore(args[1]) || !meansStore(args[0]) && pathExists(args[1])) {
		args = []string{args[1], args[0]} // the error, and where to look for it
	}
	if args[0] == "-" && len(args) > 1 { // a stream, and what is asked of it
		w.paths = []string{"-"}
		w.piped, err = io.ReadAll(w.stdin)
		return args[1:], err
	}
	if args[0] == "-" || !meansStore(args[0]) {
		return args, nil
	}
	w.paths, err = w.storePaths(ctx, args[:1])
	return args[1:], err
}

// meansStore reports whether a word is a path or a URL, also of what is not there. An id may
// have a slash, and an error text anything.
func meansStore(word string) bool {
	return pathExists(word) || !strings.ContainsAny(word, " \n") &&
		(filepath.IsAbs(word) || strings.Contains(word, "://") || registry.IsPattern(word) || slices.Contains(registry.Endings, filepath.Ext(word)))
}

// mostText is how much of a pasted text is read, in bytes.
const mostText = 1 << 20

// takeQuestion takes in what is asked: a session, a call, or an error text, which a shell may
// have cut into words. pasted: "-" means standard input, and no session of that name.
func (w *whyRun) takeQuestion(rest []string, pasted bool) error {
	text := strings.Join(rest, " ")
	if text == "-" && pasted {
		if in, ok := w.stdin.(*interruptible); ok && ui.IsTerminal(in.r) {
			w.printNote("paste the error, then press Enter and Ctrl-D")
		}
		data, err := io.ReadAll(io.LimitReader(w.stdin, mostText))
		if err != nil {
			return err
		}
		if isStream(data) {
			more, err := io.ReadAll(w.stdin)
			w.piped, w.paths = append(data, more...), []string{"-"}
			return err
		}
		if text = strings.TrimSpace(string(data)); text == "" {
			return problem.New(problem.Usage, "Paste the error text, then press Enter and Ctrl-D. `sessctl why` without - is about the newest session.", "there is nothing on standard input")
		}
	}
	if text == "" {
		return nil
	}
	w.name, w.sessions.Name = text, text
	asked := errtext.ParseAnswer(text)
	if rest[0] == "-" && pasted || asked.Kind != errtext.Unknown || strings.ContainsAny(text, " \n") {
		w.pasted = &asked
	}
	if asked.Kind == errtext.Unknown {
		w.setWanted(text)
	}
	if asked.Kind == errtext.Unknown && len(asked.IDs) == 0 {
		asked.IDs = []string{text} // it may be a call that is named in a form of its own
	}
	w.search.Asked = &asked
	if len(w.judge.Profiles) == 0 {
		for _, name := range asked.Profiles {
			w.judge.Profiles = append(w.judge.Profiles, rules.FindProfile(name))
		}
	}
	return nil
}

// hintedStores are the stores that the error text names and that are on this machine.
func (w *whyRun) hintedStores() (paths []string) {
	if w.search.Asked == nil {
		return nil
	}
	for _, path := range w.search.Asked.Paths {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(w.home, rest)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && len(paths) < mostOpen {
			paths = append(paths, path)
		}
	}
	return paths
}

func isStream(data []byte) bool {
	const header = 4 << 10
	return bytes.Contains(data[:min(header, len(data))], []byte(`"sessctl.canonical/`))
}

// mostOpen is how many stores are kept open at a time. Of more, the one with the session
// that is chosen is opened again.
const mostOpen = 8

// answerFrom checks every session of the stores from the nth on and answers before they are closed,
// so that each is read once. unread is the error of the only store.
func (w *whyRun) answerFrom(ctx context.Context, n int) (d *why.Diagnosis, unread, failed error) {
	if n == len(w.paths) {
		d, failed = w.diagnoseAsked(ctx)
		return d, nil, failed
	}
	path, search, known := w.paths[n], w.search, len(w.sessions.Known)
	searched := why.Searched{Store: path}
	unread = w.readFromStart(ctx, path, func(opened *registry.Opened) error {
		w.search, w.sessions.Known = search, w.sessions.Known[:known]
		searched.Foreign = w.isForeign(opened.Facts().Kind)
		result, err := check.Run(ctx, opened, check.Options{Rules: catalogue.UsualRules(), Judge: w.judge, EachTree: func(tree *session.Tree, found []*check.Finding) {
			w.search.Add(path, searched.Foreign, tree, found)
			w.sessions.Add(path, tree)
		}})
		w.sessions.AddFacts(opened.Facts())
		searched.Sessions, searched.Trouble, searched.Left = result.Trees, result.Incomplete, opened.Facts().Left
		if err == nil && len(w.paths) <= mostOpen {
			w.search.Stores, w.open[path] = append(w.search.Stores, searched), opened
			d, _, failed = w.answerFrom(ctx, n+1)
			delete(w.open, path)
		}
		return err
	})
	switch {
	case unread != nil && (ctx.Err() != nil || len(w.paths) == 1):
		return nil, unread, nil
	case unread != nil:
		w.reportError(unread)
		searched.Trouble, w.code = unread.Error(), max(w.code, exitCode(unread))
	case len(w.paths) <= mostOpen:
		return d, nil, failed
	}
	w.search.Stores = append(w.search.Stores, searched)
	return w.answerFrom(ctx, n+1)
}

// isForeign reports whether an error is not one of the runtime of a kind of store. A stream may be
// of any.
func (w *whyRun) isForeign(kind string) bool {
	asked := w.search.Asked
	return asked != nil && len(asked.Stores) > 0 && kind != canonical.Kind.Name && !slices.Contains(asked.Stores, kind)
}

// readFromStart reads a store, or the stream that came on standard input, from its beginning.
func (w *whyRun) readFromStart(ctx context.Context, path string, fn func(*registry.Opened) error) error {
	if path == "-" {
		w.stdin = bytes.NewReader(w.piped)
	}
	return w.readStore(ctx, path, fn)
}

// diagnoseAsked is about the session that is meant.
func (w *whyRun) diagnoseAsked(ctx context.Context) (*why.Diagnosis, error) {
	d := &why.Diagnosis{Asked: w.search.Asked, Searched: w.search.Stores}
	w.tree = nil
	err := w.chooseCandidate(d)
	if err == nil && d.Session != nil {
		err = w.diagnoseSession(ctx, d)
	}
	return d, err
}

func (w *whyRun) chooseCandidate(d *why.Diagnosis) error {
	asked := d.Asked
	var known error
	if asked != nil && asked.Kind == errtext.Unknown {
		var found view.Known
		if found, known = w.sessions.Choose(w.name); known == nil {
			w.noteRoot(found)
			d.Asked, d.Session, d.Chosen, w.tree = nil, w.rootOf(found), why.Named, found.Tree
			return nil
		}
		if !errors.Is(known, view.ErrNoSession) {
			return known // several sessions are called so
		}
	}
	list := w.search.Newest()
	if asked != nil {
		list = w.search.Best()
	}
	switch {
	case len(list) == 0 && asked != nil && asked.Kind != errtext.Unknown && !asked.InSession():
		d.Verdict = why.Elsewhere
	case len(list) == 0:
		d.Verdict, d.Unseen = why.NotFound, w.uncheckedRules()
		if at := slices.IndexFunc(w.search.Stores, func(s why.Searched) bool { return s.Trouble != "" }); at >= 0 && asked == nil {
			d.Verdict, d.Cause = why.Damaged, w.search.Stores[at].Trouble
		}
		if p, ok := errors.AsType[*problem.Error](known); ok && asked.Text == "" {
			d.Next = p.Next
		}
	case asked != nil && len(list) > 1:
		d.Verdict, d.Candidates = why.Ambiguous, list
		d.NoteAbsent(&list[0])
	case asked != nil:
		d.Session, d.Chosen = &list[0], why.Named
	default:
		d.Session, d.Chosen = &list[0], why.Newest
		if at := slices.IndexFunc(list, func(c why.Candidate) bool { return c.Broken }); at > 0 {
			d.Session, d.Chosen = &list[at], why.Broken
		}
	}
	return nil
}

// uncheckedRules are the rules for the error text that no session was checked with, also because the
// provider of the check does not mind what they find, and all of them where not every session was.
func (w *whyRun) uncheckedRules() (ids []string) {
	if w.search.Asked == nil {
		return nil
	}
	all := w.search.Asked.Causes()
	whole := func(s why.Searched) bool { return s.Trouble == "" && s.Left == 0 && !s.Foreign }
	if !slices.ContainsFunc(w.search.Stores, func(s why.Searched) bool { return !whole(s) }) {
		usual := catalogue.UsualRules()
		all = slices.DeleteFunc(all, func(id string) bool {
			return slices.ContainsFunc(usual, func(r *rules.Rule) bool { return r.ID == id && (!r.Profiled || w.mindsRule(id)) })
		})
	}
	return all
}

// mindsRule reports whether a provider that the sessions were checked for minds what a rule finds.
// Without one, each session is checked for its own.
func (w *whyRun) mindsRule(id string) bool {
	return len(w.judge.Profiles) == 0 || slices.ContainsFunc(w.judge.Profiles, func(p *rules.Profile) bool {
		_, ok := p.Levels[id]
		return ok
	})
}

// rootOf is the session that somebody goes on with: the root above the one that was named.
func (w *whyRun) rootOf(found view.Known) *why.Candidate {
	for i := range w.search.Found {
		c := &w.search.Found[i]
		if c.Store == found.Store && (c.ID == found.ID || slices.Contains(c.Below, found.ID)) {
			return c
		}
	}
	return nil
}

func (w *whyRun) diagnoseSession(ctx context.Context, d *why.Diagnosis) error {
	if d.Session.Store != "-" { // which cannot be read again
		d.Broken = w.search.BrokenBeside(d.Session)
	}
	look := func(opened *registry.Opened) error {
		if err := w.assumeDead(opened.Facts()); err != nil {
			return err
		}
		in, err := w.gatherInput(ctx, opened, d)
		if err == nil {
			d.Diagnose(in)
		}
		return err
	}
	if opened := w.open[d.Session.Store]; opened != nil {
		w.tree = cmp.Or(w.tree, w.search.Tree(d.Session))
		return look(opened)
	}
	w.tree = nil
	return w.readFromStart(ctx, d.Session.Store, look)
}

// gatherInput checks the session, asks for its next request, and plans its repair. The
// provider is the session's own, unless the error text is another one's.
func (w *whyRun) gatherInput(ctx context.Context, opened *registry.Opened, d *why.Diagnosis) (in why.Input, err error) {
	facts, judge := opened.Facts(), w.judge
	var own rules.Judge
	if own, err = w.parseJudge(); err != nil {
		return in, err
	}
	var v *view.View
	one := &oneSession{Store: opened.Store, found: view.Known{ID: d.Session.ID, Tree: w.tree}}
	for _, judge = range []rules.Judge{firstProvider(own), firstProvider(w.judge)} {
		result, err := check.Run(ctx, one, check.Options{
			Rules: catalogue.UsualRules(), Judge: judge, Session: d.Session.ID,
			EachTree: func(tree *session.Tree, _ []*check.Finding) { one.found.Tree = tree },
		})
		if err != nil {
			return in, err
		}
		result.Findings = slices.DeleteFunc(result.Findings, func(f *check.Finding) bool {
			return f.Root != nil && f.Root.ID != d.Session.ID && !f.Concerns(d.Session.ID)
		})
		in = why.Input{Store: facts, Tree: one.found.Tree, Findings: result.Findings, Incomplete: result.Incomplete, Recovery: result.Recovery}
		v = view.BuildView(view.Input{Store: facts, Tree: in.Tree, Findings: in.Findings, Session: d.Session.ID, Request: true, Judge: judge})
		if len(w.judge.Profiles) == 0 || slices.Contains(w.judge.Profiles, v.Request.Profile) {
			break
		}
	}
	in.Request = v.Request
	if in.Incomplete == "" {
		opts := repair.Options{Rules: catalogue.UsualRules(), Judge: judge, Session: d.Session.ID, Prologue: opened.Kind.Prologue}
		if in.Repair, err = why.PlanRepair(ctx, one, opts); in.Repair == nil && err == nil {
			repair.NewForecast(ctx, one, opts).MarkTree(in.Tree, in.Findings) // with the reasons
		}
		w.addCommands(opened, in.Repair, d.Session)
	}
	return in, err
}

// firstProvider is a judge for one provider.
func firstProvider(judge rules.Judge) rules.Judge {
	judge.Profiles = judge.Profiles[:min(1, len(judge.Profiles))]
	return judge
}

// addCommands are what to type for a repair, and to take it back.
func (w *whyRun) addCommands(opened *registry.Opened, mend *why.Repair, c *why.Candidate) {
	if mend == nil {
		return
	}
	r := &repairRun{program: w.program, path: c.Store, kind: opened.Kind, facts: opened.Facts()}
	words := []string{"--session", w.shortenCandidate(opened.Facts(), c)}
	if len(w.config.Profile) > 0 {
		words = append(words, "--profile", w.config.Profile[0])
	}
	if w.config.AsIs {
		words = append(words, "--as-is")
	}
	if len(mend.Allow) > 0 {
		words = append(words, "--allow", strings.Join(mend.Allow, ","))
	}
	if mend.AssumeDead || w.config.AssumeDead {
		words = append(words, "--assume-dead")
	}
	if facts := opened.Facts(); facts.Identity != "" && (facts.Writer == session.WriterUnknown || w.config.AssumeDead) {
		mend.Recent = time.Since(c.Touched).Abs() < cmp.Or(w.config.LiveWindow, liveWindow) //nolint:forbidigo // an age counts from now
	}
	path := c.Store
	if opened.Kind.Edit != nil && opened.Facts().ReadOnly == "" {
		mend.Undo = "sessctl undo " + shell.Path(c.Store)
	} else {
		if !r.canCopy() {
			path = streamName(r.path)
			mend.Commands = append(mend.Commands, "sessctl export "+shell.Path(c.Store)+" --output "+shell.Path(path))
			r.path = path
		}
		words = append(words, "--output", r.copyName())
	}
	mend.Commands = append(mend.Commands, repairCommand(path, shell.Words(words)...))
}

// shortenCandidate is the beginning of the id of a session, if it is known to mean this session only.
func (w *whyRun) shortenCandidate(facts *session.Store, c *why.Candidate) string {
	if facts.Read == session.ByIndex || facts.Left > 0 {
		return c.ID
	}
	var known []view.Known
	for _, k := range w.sessions.Known {
		if k.Store == c.Store {
			known = append(known, k)
		}
	}
	if found, err := view.ChooseSession(known, rules.ShortID(c.ID)); err == nil && found.ID == c.ID {
		return rules.ShortID(c.ID)
	}
	return c.ID
}

// unopenedDiagnosis is the diagnosis of a store that cannot be read.
func (w *whyRun) unopenedDiagnosis(err error) *why.Diagnosis {
	d := &why.Diagnosis{Verdict: why.Damaged, Cause: err.Error(), Asked: w.search.Asked}
	if known, ok := errors.AsType[*problem.Error](err); ok {
		d.Next = known.Next
		switch {
		case known.Class == problem.Busy:
			d.Verdict = why.InUse
		case errors.Is(err, fs.ErrNotExist):
			d.Verdict = why.NotFound
		}
	}
	return d
}

// printDiagnosis prints the diagnosis. failed is why there is none of a session.
func (w *whyRun) printDiagnosis(d *why.Diagnosis, failed error) error {
	d.Pasted = w.pasted
	code := max(w.code, whyCode(d.Verdict))
	if failed != nil {
		code = exitCode(failed)
	}
	opts := render.WhyOptions{Screen: w.out, Tool: thisTool(), Home: w.home, Quiet: w.config.Quiet, ExitCode: code}
	if d.Store != nil && d.Store.Path != "-" && w.keyboard() != nil {
		opts.Browse = "sessctl browse " + shell.Path(d.Store.Path)
	}
	printer := render.PrintDiagnosis
	if w.config.Format == "json" {
		printer = machine.PrintDiagnosis
	}
	return cmp.Or(printer(d, opts), withCode(code))
}

func whyCode(v why.Verdict) int {
	switch v {
	case why.Resumes, why.Doubtful, why.Elsewhere:
		return exitOK
	case why.Refused, why.Unloaded, why.Loses, why.Waits:
		return exitFindings
	case why.InUse:
		return int(problem.Busy)
	}
	return int(problem.Unreadable)
}
