// Package pickle reads Python pickles without running anything in them: a class is
// a name, an object is that name with its state. It knows what the protocols 2 to 5
// write for plain data and for objects of pydantic, and nothing else. It is pure.
//
// The facts are those of PEP 307, PEP 3154, PEP 574 and of Python's pickletools.
package pickle

import (
	"errors"
	"fmt"
)

// A value is nil, bool, int64, float64, string, []byte, Tuple, *List, *Dict, *Set,
// Class, *Object or Opaque. Values can hold each other in a circle.
type (
	// Tuple is a tuple.
	Tuple []any
	// List is a list.
	List struct{ Items []any }
	// Dict is a dictionary in the order of its insertions; of doubled keys the last
	// one counts. A key that Python can compare and Go cannot (a tuple, say) is left
	// out with its value.
	Dict struct{ Pairs [][2]any }
	// Set is a set or a frozenset.
	Set struct{ Items []any }
	// Class is a class or function by its name: nothing is imported.
	Class struct{ Module, Name string }
	// Object is what Python would make by calling a class or function. It is not
	// called. What a dictionary or list of such a class holds is left out.
	Object struct {
		Class Class
		Args  any
		State any // nil when it was given none
	}
	// Opaque is data that Go has no type for: a number of more than 64 bits.
	Opaque struct{}
)

// Decode reads a pickle. The error says what in it is no plain data, or where it
// breaks off; it holds nothing of what the pickle says.
func Decode(data []byte) (any, error) {
	m := &machine{data: data}
	for {
		code, err := m.byte()
		if err != nil {
			return nil, err
		}
		if code == '.' {
			return m.pop()
		}
		run := opcodes[code]
		if run == nil {
			return nil, fmt.Errorf("the opcode %#02x at byte %d makes no plain data", code, m.at-1)
		}
		if err := run(m); err != nil {
			return nil, fmt.Errorf("opcode %#02x, before byte %d: %w", code, m.at, err)
		}
	}
}

// Field is what an object of pydantic, or a dictionary, has under a name; nil for
// nothing.
func Field(value any, name string) any {
	if o, ok := value.(*Object); ok {
		value = member(o.State, "__dict__")
	}
	return member(value, name)
}

func member(value any, name string) any {
	d, ok := value.(*Dict)
	if !ok {
		return nil
	}
	for i := len(d.Pairs) - 1; i >= 0; i-- {
		if d.Pairs[i][0] == any(name) {
			return d.Pairs[i][1]
		}
	}
	return nil
}

// Items are the values of a list or tuple, nil for anything else.
func Items(value any) []any {
	switch v := value.(type) {
	case *List:
		return v.Items
	case Tuple:
		return v
	}
	return nil
}

var (
	errShort = errors.New("the pickle breaks off")
	errStack = errors.New("it takes more values than there are")
	errKind  = errors.New("it is given a value of the wrong kind")
)

// machine is the stack machine that a pickle is a program for.
type machine struct {
	data  []byte
	at    int
	stack []any
	marks []int // lengths of the stack
	memo  []any
}

func (m *machine) byte() (byte, error) {
	b, err := m.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// take gives the next bytes.
func (m *machine) take(n uint64) ([]byte, error) {
	if n > uint64(len(m.data)-m.at) {
		return nil, errShort
	}
	b := m.data[m.at : m.at+int(n)]
	m.at += int(n)
	return b, nil
}

// number is an unsigned integer of some bytes, the lowest first.
func (m *machine) number(size uint64) (n uint64, err error) {
	b, err := m.take(size)
	for i := len(b) - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n, err
}

func (m *machine) push(value any) error {
	m.stack = append(m.stack, value)
	return nil
}

// bottom is the length of the stack at the last mark: nothing below is taken.
func (m *machine) bottom() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() (any, error) {
	if len(m.stack) == m.bottom() {
		return nil, errStack
	}
	value := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return value, nil
}

// top is the value on top of the stack, which stays.
func (m *machine) top() (any, error) {
	if len(m.stack) == m.bottom() {
		return nil, errStack
	}
	return m.stack[len(m.stack)-1], nil
}

// since takes all values above the last mark, and the mark.
func (m *machine) since() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, errStack
	}
	from := m.bottom()
	values := append([]any(nil), m.stack[from:]...)
	m.stack, m.marks = m.stack[:from], m.marks[:len(m.marks)-1]
	return values, nil
}
