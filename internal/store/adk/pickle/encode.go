package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encode writes a value as a pickle of protocol 5, with the opcodes that CPython's
// own pickler takes. It writes what Decode gives, but for bytes, tuples and objects
// that were made with arguments; a value must not hold itself. The error names the
// type that it does not write.
func Encode(value any) ([]byte, error) {
	w := writer{texts: map[string]int{}, classes: map[Class]int{}}
	if err := w.value(value); err != nil {
		return nil, err
	}
	w.out = append(w.out, '.')
	return append(binary.LittleEndian.AppendUint64([]byte{0x80, 5, 0x95}, uint64(len(w.out))), w.out...), nil
}

type writer struct {
	out     []byte
	texts   map[string]int // their numbers in the memo
	classes map[Class]int
	memo    int // how many values are in it
}

func (w *writer) code(codes ...byte) { w.out = append(w.out, codes...) }

// keep puts the value on top of the stack into the memo, as CPython does with
// everything that can be meant twice.
func (w *writer) keep() int {
	w.code(0x94)
	w.memo++
	return w.memo - 1
}

func (w *writer) again(number int) {
	if number < 256 {
		w.code('h', byte(number))
		return
	}
	w.out = binary.LittleEndian.AppendUint32(append(w.out, 'j'), uint32(number))
}

func (w *writer) value(value any) error {
	switch v := value.(type) {
	case nil:
		w.code('N')
	case bool:
		w.code(map[bool]byte{true: 0x88, false: 0x89}[v])
	case int64:
		w.number(v)
	case float64:
		w.out = binary.BigEndian.AppendUint64(append(w.out, 'G'), math.Float64bits(v))
	case string:
		w.text(v)
	case *List:
		w.code(']')
		w.keep()
		return w.fill('a', 'e', len(v.Items), func(i int) []any { return v.Items[i : i+1] })
	case *Dict:
		w.code('}')
		w.keep()
		return w.fill('s', 'u', len(v.Pairs), func(i int) []any { return v.Pairs[i][:] })
	case *Set:
		w.code(0x8f)
		w.keep()
		return w.fill(0, 0x90, len(v.Items), func(i int) []any { return v.Items[i : i+1] })
	case *Object:
		return w.object(v)
	default:
		return fmt.Errorf("a value of type %T is not written", value)
	}
	return nil
}

func (w *writer) number(n int64) {
	switch {
	case n >= 0 && n < 1<<8:
		w.code('K', byte(n))
	case n >= 0 && n < 1<<16:
		w.out = binary.LittleEndian.AppendUint16(append(w.out, 'M'), uint16(n))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		w.out = binary.LittleEndian.AppendUint32(append(w.out, 'J'), uint32(n))
	default:
		size := 8
		for size > 1 && n<<(72-8*size)>>(72-8*size) == n { // one byte less still holds it
			size--
		}
		w.code(0x8a, byte(size))
		w.out = append(w.out, binary.LittleEndian.AppendUint64(nil, uint64(n))[:size]...)
	}
}

func (w *writer) text(s string) {
	if number, known := w.texts[s]; known {
		w.again(number)
		return
	}
	if len(s) < 1<<8 {
		w.code(0x8c, byte(len(s)))
	} else {
		w.out = binary.LittleEndian.AppendUint32(append(w.out, 'X'), uint32(len(s)))
	}
	w.out = append(w.out, s...)
	w.texts[s] = w.keep()
}

// fill puts values into the container on top of the stack: one with an opcode of
// its own where there is one, several behind a mark.
func (w *writer) fill(one, many byte, n int, values func(i int) []any) error {
	if n == 0 {
		return nil
	}
	end := one
	if n > 1 || one == 0 {
		w.code('(')
		end = many
	}
	for i := range n {
		for _, value := range values(i) {
			if err := w.value(value); err != nil {
				return err
			}
		}
	}
	w.code(end)
	return nil
}

// object writes an object that was made without arguments and then given its state.
func (w *writer) object(o *Object) error {
	if args, ok := o.Args.(Tuple); !ok || len(args) > 0 {
		return fmt.Errorf("an object of %s that was made with arguments is not written", o.Class.Name)
	}
	if number, known := w.classes[o.Class]; known {
		w.again(number)
	} else {
		w.text(o.Class.Module)
		w.text(o.Class.Name)
		w.code(0x93)
		w.classes[o.Class] = w.keep()
	}
	w.code(')', 0x81)
	w.keep()
	if o.State == nil {
		return nil
	}
	if err := w.value(o.State); err != nil {
		return err
	}
	w.code('b')
	return nil
}

// These opcodes put values into others.

func setItem(m *machine) error {
	value, err := m.pop()
	if err != nil {
		return err
	}
	key, err := m.pop()
	if err != nil {
		return err
	}
	return m.fill([]any{key, value})
}

func setItems(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	return m.fill(values)
}

// fill gives the dictionary on top of the stack its keys and values.
func (m *machine) fill(values []any) error {
	top, err := m.top()
	if err != nil {
		return err
	}
	d, ok := top.(*Dict)
	if _, isObject := top.(*Object); !ok && !isObject || len(values)%2 != 0 {
		return errKind
	}
	for i := 0; i < len(values); i += 2 {
		switch values[i].(type) {
		case *List, *Dict: // Python cannot compare them either
			return errKind
		case nil, bool, int64, float64, string:
			if ok {
				d.Pairs = append(d.Pairs, [2]any{values[i], values[i+1]})
			}
		}
	}
	return nil
}

func appendItem(m *machine) error {
	value, err := m.pop()
	if err != nil {
		return err
	}
	return m.extend([]any{value})
}

func appendItems(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	return m.extend(values)
}

func (m *machine) extend(values []any) error {
	top, err := m.top()
	if err != nil {
		return err
	}
	switch l := top.(type) {
	case *List:
		l.Items = append(l.Items, values...)
	case *Object:
	default:
		return errKind
	}
	return nil
}

func addItems(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	top, err := m.top()
	if err != nil {
		return err
	}
	s, ok := top.(*Set)
	if !ok {
		return errKind
	}
	s.Items = append(s.Items, values...)
	return nil
}

func frozenSet(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	return m.push(&Set{Items: values})
}

func stackGlobal(m *machine) error {
	name, err := m.pop()
	if err != nil {
		return err
	}
	module, err := m.pop()
	if err != nil {
		return err
	}
	class, named := name.(string)
	of, known := module.(string)
	if !named || !known {
		return errKind
	}
	return m.push(Class{of, class})
}

// object makes an object of a class and what it would be called with: one value, or
// two with arguments by name, of which nothing here has a use.
func object(values int) func(*machine) error {
	return func(m *machine) error {
		var args any
		for range values {
			var err error
			if args, err = m.pop(); err != nil {
				return err
			}
		}
		class, err := m.pop()
		if err != nil {
			return err
		}
		c, ok := class.(Class)
		if !ok {
			return errKind
		}
		return m.push(&Object{Class: c, Args: args})
	}
}

func build(m *machine) error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	top, err := m.top()
	if err != nil {
		return err
	}
	o, ok := top.(*Object)
	if !ok {
		return errKind
	}
	o.State = state
	return nil
}
