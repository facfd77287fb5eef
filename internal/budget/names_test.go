package budget

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// verbs are the first words of names that say what a function does.
var verbs = strings.Fields(`abort accept acquire add adjust advance allow amend annotate answer apply arrange ask assemble assert attach
	backup balance begin bind block break bring build call can carry cast change check choose chop claim classify clean clear clone
	close collapse collect combine commit compare compile complete compose compress compute connect consume continue convert copy
	count cover create cut deal decide declare decode deduplicate defer delete derive describe detect determine diagnose discard
	disconnect display divide do draw drop dump edit emit empty enable encode end ensure enter enumerate erase escape estimate
	evaluate examine exclude execute exit expand expect explain export extend extract fail fetch fill filter find finish fit fix
	flush fold follow forecast forget format forward free gather generate get give go grant group grow guess handle has hash hear
	hide hold identify ignore import include indent index inherit init insert inspect install is iterate join judge keep kill
	label lay leave link list listen load locate lock log look lower make map mark match may measure meet mend merge migrate mix
	move must name narrow need next normalise note notify number object observe omit open order pack pad page parse part pass
	paste pause peek pick place plan play point pop prepare print probe prove prune publish pull push put query quote raise read
	rebuild receive recognise record recover redact reduce refer refuse register reject relate release relink reload remember
	remove rename render renumber reopen repair replace replay report request require reset resolve restore restrict resume return
	revert rewind rewrite roll run save say scan scrub search see select send separate serve set settle shade share shift shorten
	should show shrink shut sift skip slice sort spell splice split spool stage start state step stop store strip sum survey
	swap sweep switch take tell test tidy tie time touch trace track transform translate trim truncate try turn undo unify
	unite unlock unmarshal unpack unquote update upgrade use validate verify view visit wait walk want warn watch weigh widen
	wipe withdraw word work wrap write yield marshal`)

var wordOf = regexp.MustCompile(`[A-Z]+(?:[a-z0-9]+)?|[a-z0-9]+`)

// TestNames reports how functions are named, which is a goal and no limit: names of one word, names
// that begin with a verb, and the names that most functions share. With -v it lists the packages
// with most names of one word.
func TestNames(t *testing.T) {
	all, single, acting := 0, 0, 0
	same, singles := map[string]int{}, map[string][]string{}
	for file, source := range sources(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name == "init" || f.Name.Name == "main" {
				continue
			}
			words := wordOf.FindAllString(f.Name.Name, -1)
			all++
			same[f.Name.Name]++
			if len(words) == 1 {
				single++
				singles[path.Dir(file)] = append(singles[path.Dir(file)], f.Name.Name)
			}
			if first := strings.ToLower(words[0]); slices.Contains(verbs, first) || slices.Contains(verbs, strings.TrimSuffix(first, "s")) {
				acting++
			}
		}
	}
	most := slices.SortedFunc(maps.Keys(same), func(a, b string) int { return cmp.Or(same[b]-same[a], strings.Compare(a, b)) })
	var told []string
	for _, name := range most[:12] {
		told = append(told, fmt.Sprint(name, " ", same[name]))
	}
	t.Logf("%d functions: %d %% have names of one word (goal 40), %d %% begin with a verb (goal 55); most frequent: %s",
		all, 100*single/all, 100*acting/all, strings.Join(told, ", "))
	for _, folder := range slices.SortedFunc(maps.Keys(singles), func(a, b string) int { return len(singles[b]) - len(singles[a]) }) {
		slices.Sort(singles[folder])
		t.Logf("%4d %s: %s", len(singles[folder]), folder, strings.Join(singles[folder], " "))
	}
}
