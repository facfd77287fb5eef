package repair

// AtStep makes fn be called before every step that changes something on the
// disk.
func AtStep(fn func(step string)) { atStep = fn }

// SmallBatches makes every batch a tree until the function that it returns is
// called.
func SmallBatches() (restore func()) {
	before := firstBatch
	firstBatch = 1
	return func() { firstBatch = before }
}
