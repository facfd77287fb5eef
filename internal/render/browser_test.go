package render_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/sessctl/sessctl/internal/campaign"
)

// browser is a real one that shows a page, and what it said and asked for meanwhile.
type browser struct {
	*testing.T
	ctx context.Context

	mu   sync.Mutex
	said []string // on the console, and of what the policy of a page forbids
	sent []string // addresses other than those of files
}

// browse starts Chromium, which Debian has, for make test-dist. Where it is not installed, the
// test skips; after .ci/run installed it, SESSCTL_BROWSE is "must", and the test fails.
func browse(t *testing.T) *browser {
	t.Helper()
	if os.Getenv("SESSCTL_BROWSE") == "" && !campaign.Long() {
		t.Skip("make test-dist looks at pages in a browser")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("SESSCTL_BROWSE") == "must" {
			t.Fatal(err)
		}
		t.Skip("there is no chromium")
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	err = chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch event := event.(type) {
		case *runtime.EventConsoleAPICalled:
			b.said = append(b.said, fmt.Sprint(event.Type, event.Args))
		case *runtime.EventExceptionThrown:
			b.said = append(b.said, fmt.Sprint(event.ExceptionDetails))
		case *log.EventEntryAdded:
			b.said = append(b.said, event.Entry.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(event.Request.URL, "file:") {
				b.sent = append(b.sent, event.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ask(b, log.Enable, cdp.Empty{})
	ask(b, network.Enable, network.EnableParams{})
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// ask sends a command to the browser.
func ask[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.Fatal(err)
	}
}

// open shows a page on a screen of a width, in a color scheme.
func (b *browser) open(page string, width int64, scheme string) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		b.Fatal(err)
	}
	ask(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	b.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+filepath.ToSlash(file)))
}

// quiet checks that nothing was said and sent.
func (b *browser) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said)+len(b.sent) > 0 {
		b.Errorf("the browser says %q and asks for %q", b.said, b.sent)
	}
	b.said, b.sent = nil, nil
}

// value is what an expression gives in the page.
func (b *browser) value(script string) string {
	b.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("(async () => String(await "+script+"))()", chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%.200s: %v", script, err)
	}
	return out
}

// fill writes a value into a field as somebody who types it.
func (b *browser) fill(query, value string) {
	b.Helper()
	b.value(fmt.Sprintf(`((field) => {
		field.value = %q;
		for (const name of ["input", "change"]) field.dispatchEvent(new Event(name));
	})(document.querySelector(%q))`, value, query))
}

// expect waits until an expression gives what is wanted.
func (b *browser) expect(script, want string) {
	b.Helper()
	got := ""
	for range 40 {
		if got = b.value(script); got == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.Errorf("%s is %q, not %q", script, got, want)
}

// visible counts the elements that a reader sees.
func visible(query string) string {
	return fmt.Sprintf("[...document.querySelectorAll(%q)].filter((e) => e.checkVisibility()).length", query)
}

// accessible asks axe-core, which is no part of the repository, about the page.
func (b *browser) accessible() {
	b.Helper()
	axe, err := os.ReadFile(filepath.Join("..", "..", "bin", "schemas", "axe.min.js"))
	if err != nil {
		notValidated(b.T, "there is no bin/schemas/axe.min.js; `make schemas` fetches it")
	}
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](string(axe)+";0")); err != nil {
		b.Fatal(err)
	}
	out := b.value(`axe.run().then((r) => JSON.stringify(r.violations.map((v) => [v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html + " " + n.failureSummary)])))`)
	var violations []any
	if err := json.Unmarshal([]byte(out), &violations); err != nil || len(violations) > 0 {
		b.Errorf("axe-core: %v %v", violations, err)
	}
}

// pages are all that commands print, by their names.
func pages(t *testing.T) map[string]string {
	inUTC(t)
	all := map[string]string{}
	for _, c := range viewCases {
		all["view "+c.name] = c.page(t)
	}
	all["check"], _ = someStores().print(t, "html")
	all["plan"] = planPage(t)
	return all
}

// TestPagesInABrowser: whatever a store holds, no page says anything on the console, asks for
// anything, or is wider than the screen.
func TestPagesInABrowser(t *testing.T) {
	b := browse(t)
	for name, page := range pages(t) {
		for width, scheme := range map[int64]string{1280: "light", 400: "dark"} {
			b.open(page, width, scheme)
			b.quiet()
			b.expect("document.documentElement.scrollWidth", fmt.Sprint(width))
			if examined[name] {
				b.accessible()
			}
		}
		if t.Failed() {
			t.Fatalf("in the page %q", name)
		}
	}
}

// examined are the pages that show all that pages have.
var examined = map[string]bool{"view nested": true, "view hostile_text": true, "view gemini": true, "check": true, "plan": true}

func TestTheViewOfASessionInABrowser(t *testing.T) {
	b := browse(t)
	b.open(pages(t)["view nested"], 1280, "light")

	b.expect(visible("[data-seen]"), "13")
	b.fill("#filter", "count the lines")
	b.expect(visible("[data-seen]"), "2")
	b.expect("document.getElementById('count').textContent", "2 of 13 messages")
	b.fill("#filter", "")
	b.expect(visible("[data-seen]"), "13")

	b.value("document.getElementById('all').click()")
	b.expect(visible("[data-seen]"), "5")
	b.value("document.getElementById('all').click()")
	b.expect(visible("[data-seen]"), "13")

	b.fill("#viewer", "1") // the worker
	b.expect("document.querySelectorAll('.unseen').length", "9")
	b.expect("document.querySelector('.unseen .why').textContent", "not seen: other session")
	b.fill("#viewer", "")
	b.expect("document.querySelectorAll('.unseen, .why').length", "0")

	b.expect("document.querySelectorAll('.lanes .arc').length", "5")
	b.value("document.querySelector('.lanes a.place').click()")
	b.expect("location.hash", "#m0-0")
	b.quiet()
}

func TestTheReportOfACheckInABrowser(t *testing.T) {
	b := browse(t)
	b.open(pages(t)["check"], 1280, "dark")
	b.expect(visible(".finding"), "6")

	pick := func(words string) {
		b.value(fmt.Sprintf("[...document.querySelectorAll('button')].find((b) => b.textContent.startsWith(%q)).click()", words))
	}
	pick("warning")
	b.expect(visible(".finding"), "1")
	b.expect("document.getElementById('count').textContent", "1 of 6 findings")
	pick("warning")
	pick("SC015")
	b.expect(visible(".finding"), "2")
	b.expect(visible("h3"), "2")
	pick("SC015")
	b.fill("#filter", "toolu_2 PROVIDER")
	b.expect(visible(".finding"), "0")
	b.fill("#filter", "toolu_2 SHELL")
	b.expect(visible(".finding"), "1")
	b.fill("#filter", "")

	first := "document.querySelector('table:not(.picks) tbody tr').cells[0].textContent"
	before := b.value(first)
	pick("Warnings")
	b.expect("document.querySelector('th[aria-sort]').ariaSort", "descending")
	pick("Warnings")
	b.expect("document.querySelector('th[aria-sort]').ariaSort", "ascending")
	if b.value(first) == "" || before == "" {
		t.Error("the list of sessions is empty")
	}
	b.quiet()
}
