package cmd

import (
	"flag"
	"reflect"
	"testing"

	"github.com/sessctl/sessctl/internal/schematest"
)

// TestSchemaOfMessages holds docs/schema against what stderr has where the output is JSON.
func TestSchemaOfMessages(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true" // declared beside the scripts
	new(schematest.Maker).HoldSchemas(t, update, schematest.Schema{
		Name: "message", Title: "an error or a note on standard error, where the output is JSON", Forms: []schematest.Form{{Of: reflect.TypeFor[message]()}},
	})
}
