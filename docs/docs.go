// Package docs holds the pages and the schemas that the program itself prints.
package docs

import "embed"

// Rules holds one page a rule: rules/SC701.md.
//
//go:embed rules/SC*.md
var Rules embed.FS

// Schemas holds the JSON Schemas of what the program prints: schema/check.json.
//
//go:embed schema/*.json
var Schemas embed.FS
