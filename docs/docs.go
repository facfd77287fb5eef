// Package docs holds the pages that the program itself prints.
package docs

import "embed"

// Rules holds one page a rule: rules/SC701.md.
//
//go:embed rules/SC*.md
var Rules embed.FS
