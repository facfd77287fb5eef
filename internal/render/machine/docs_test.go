package machine

import (
	"flag"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sessctl/sessctl/internal/baseline"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/schematest"
)

var update = flag.Bool("update", false, "write docs/schema")

// TestSchemas holds docs/schema against what is printed: a key that is new comes into it, and one
// that is gone or has another form breaks what people wrote.
func TestSchemas(t *testing.T) {
	m := schematest.Maker{Types: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[branchLabel](): {Types: []string{"string", "object"}},
	}}
	document := func(name string, of any, schema string) schematest.Schema {
		title := map[string]string{"baseline": "a file of known findings: check --write-baseline", "plan": "what a repair does: repair --plan-out"}[name]
		if title == "" {
			title = "sessctl " + name + " --format json"
		}
		form := schematest.Form{Of: reflect.TypeOf(of), Is: map[string]string{"schema": schema}}
		if schema == "" {
			form.Is = nil
		}
		return schematest.Schema{Name: name, Title: title, Forms: []schematest.Form{form}}
	}
	line := func(of any, is ...string) schematest.Form {
		f := schematest.Form{Of: reflect.TypeOf(of), Is: map[string]string{"type": is[0]}}
		if len(is) > 1 {
			f.Is["schema"] = is[1]
		}
		return f
	}
	lines := func(name string, forms ...schematest.Form) schematest.Schema {
		return schematest.Schema{Name: name + "-line", Title: "a line of sessctl " + name + " --format ndjson", Forms: forms}
	}
	repairs, plan := document("repair", repairDocument{}, repairSchema), document("plan", repair.Plan{}, repair.PlanSchema)
	repairs.Forms[0].Holds = map[string]reflect.Type{"plan": reflect.TypeFor[repair.Plan]()}
	plan.Forms[0].Nulls = true
	m.HoldSchemas(t, *update,
		document("check", checkDocument{}, checkSchema), lines("check", line(jsonFinding{}, "finding"), line(checkSummary{}, "summary", checkSchema)),
		document("why", whyDocument{}, whySchema),
		document("view", viewDocument{}, viewSchema),
		document("replay", replayDocument{}, replaySchema),
		lines("replay", line(replayEvent{}, "event"), line(jsonFinding{}, "finding"), line(replaySummaryLine{}, "summary", replaySchema)),
		document("diff", diffDocument{}, diffSchema),
		document("find", foundDocument{}, findSchema), lines("find", line(foundHit{}, "hit"), line(foundSummary{}, "summary", findSchema)),
		document("ls", lsDocument{}, lsSchema), lines("ls", line(lsRow{}, "session"), line(lsSummary{}, "summary", lsSchema)),
		document("stores", storesDocument{}, "sessctl.stores/1"),
		document("explain", explainDocument{}, "sessctl.explain/1"),
		document("config", configDocument{}, "sessctl.config/1"),
		document("version", render.Build{}, ""),
		document("baseline", baseline.File{}, baseline.Schema),
		repairs, plan,
	)
}
