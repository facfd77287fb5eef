package dockeragent

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
)

// argumentParts are pieces of what models write as arguments.
var argumentParts = []string{
	`{`, `}`, `[`, `]`, `,`, `:`, `"`, `"a"`, `"path":`, `"a <b> & \n\t\"c\" \\ \/ \u00e9"`, `"größer"`, "\n", "\t ", `1`, `-1.5e3`, `01`, `1e999`,
	`true`, `false`, `null`, `nul`, `\`, `\x`, `\u12`, "\x00", "\x7f", "\u2028", "\xff", `{"a":{"b":[1,"x",{}]}}`, `"`, `"code":"if a < b {\n\treturn \"x\\n\"\n}"`,
}

// The form is what session.FormOf says of the text, whatever path it takes.
func TestForm(t *testing.T) {
	campaign.ShowsNoRace(t)
	random := rand.New(rand.NewPCG(5, 6))
	var d decoder
	forms := map[session.ArgsForm]int{}
	for range 100_000 {
		text := ""
		if random.IntN(2) == 0 {
			text = "{"
		}
		for range random.IntN(6) {
			text += pick(random, argumentParts)
		}
		if random.IntN(2) == 0 {
			text += "}"
		}
		if random.IntN(3) == 0 {
			text = string(mutate(random, []byte(`{"cmd":"a \"b\" \\ c","n":[1,{"x":null}],"code":"if a < b {\n\treturn\n}"}`)))
		}
		l := quoteText(text)
		var stored string
		if len(l) > 0 && json.Unmarshal(l, &stored) != nil {
			t.Fatalf("%q is no literal", l)
		}
		want := session.FormOf(stored)
		if got := d.argumentsForm(l); got != want {
			t.Fatalf("%q: %d, want %d", stored, got, want)
		}
		forms[want]++
	}
	if min(forms[session.ArgsObject], forms[session.ArgsValue], forms[session.ArgsBroken]) < 500 {
		t.Errorf("the texts are one-sided: %v", forms)
	}
}

// Objects are told without allocating.
func TestFormOfObjectsIsFast(t *testing.T) {
	l := quoteText(`{"code":"if a < b && c {\n\treturn \"x\\n\"\n}","n":[-1.5e3,true,null,"größer\u2028"]}` + "\n")
	var d decoder
	d.argumentsForm(l) // its space grows
	if n := testing.AllocsPerRun(10, func() { d.argumentsForm(l) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
