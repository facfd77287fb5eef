package mysql

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/store/table"
)

// Opener opens a database that RegisterName named, for changing.
func Opener(string) func(context.Context) (table.Editor, error) {
	return func(context.Context) (table.Editor, error) { return nil, errors.New("not yet") }
}
