package sqlite

import "errors"

// ErrMoved is the cause of a Begin that failed because the database was changed
// after it was backed up.
var ErrMoved = errors.New("the store was changed after it was backed up")
