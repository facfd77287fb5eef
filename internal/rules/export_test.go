package rules

// ShowAtMost sets how many items all viewers of a session are shown together, until
// the function that it returns is called.
func ShowAtMost(items int) (reset func()) {
	before := mostShown
	mostShown = items
	return func() { mostShown = before }
}
