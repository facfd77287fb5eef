//go:build !linux

package sqlite

import "os"

// aloneWith cannot tell on this platform, so that nothing is deleted.
func aloneWith(*os.File, string) (release func(), alone bool) { return func() {}, false }
