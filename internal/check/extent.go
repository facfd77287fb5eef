package check

import "github.com/sessctl/sessctl/internal/rules"

// Extent is how bad a finding is.
type Extent struct {
	Severity rules.Severity
	Items    int // and other records, parts or places that it is about
}

// Extent is how bad the finding is.
func (f *Finding) Extent() Extent {
	return Extent{f.Severity, max(len(f.Items), f.Count, len(f.Related))}
}

// Covers reports whether the other is no worse.
func (e Extent) Covers(other Extent) bool {
	return other.Severity <= e.Severity && other.Items <= e.Items
}
