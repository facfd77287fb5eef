package rules

import "reflect"

// memo holds what is computed of a pass or of a subject when a rule first asks, one
// value a type.
type memo map[reflect.Type]any

// Once is the value of a type, made at the first call.
func Once[T any](known *memo, compute func() T) T {
	key := reflect.TypeFor[T]()
	if value, is := (*known)[key]; is {
		return value.(T)
	}
	value := compute()
	if *known == nil {
		*known = memo{}
	}
	(*known)[key] = value
	return value
}
