package repair

// AtStep makes fn be called before every step that changes something on the
// disk.
func AtStep(fn func(step string)) { atStep = fn }
