package repair

import (
	"flag"
	"reflect"
	"testing"

	"github.com/sessctl/sessctl/internal/schematest"
)

var update = flag.Bool("update", false, "write docs/schema")

// seals are what each line of a receipt ends with.
type seals struct {
	Prev string `json:"prev"` // `sum` of the line before, empty in the first
	Sum  string `json:"sum"`  // SHA-256 of the line before this member: docs/repair.md
}

type (
	sealedHeader struct {
		header
		seals
	}
	sealedBatch struct {
		Batch
		seals
	}
	sealedEnd struct {
		end
		seals
	}
	sealedNote struct {
		note
		seals
	}
)

// TestSchema holds docs/schema against the lines of a receipt.
func TestSchema(t *testing.T) {
	line := func(of reflect.Type, record string) schematest.Form {
		return schematest.Form{Of: of, Is: map[string]string{"record": record}, Nulls: true}
	}
	first := line(reflect.TypeFor[sealedHeader](), recordRepair)
	first.Is["schema"] = ReceiptSchema
	new(schematest.Maker).HoldSchemas(t, *update, schematest.Schema{Name: "receipt", Title: "a line of a receipt, which sessctl undo takes (docs/repair.md)", Forms: []schematest.Form{
		first, line(reflect.TypeFor[sealedBatch](), recordBatch), line(reflect.TypeFor[sealedEnd](), recordEnd),
		line(reflect.TypeFor[sealedNote](), recordUndo), line(reflect.TypeFor[sealedNote](), recordUndone),
	}})
}
