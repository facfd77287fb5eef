// Package pickle reads Python pickles without running anything in them: a class is
// a name, an object is that name with its state. It knows what the protocols 2 to 5
// write for plain data and for objects of pydantic, and nothing else. It is pure.
//
// The facts are those of PEP 307, PEP 3154, PEP 574 and of Python's pickletools.
package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
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
			return nil, fmt.Errorf("the opcode %#02x at byte %d does not make plain data", code, m.at-1)
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
	errShort = errors.New("the pickle is cut off")
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

// opcodes are those that make plain data; what others do is refused.
var opcodes = map[byte]func(*machine) error{
	0x80: skip(1), 0x95: skip(8), // PROTO, FRAME
	'N': constant(nil), 0x88: constant(true), 0x89: constant(false),
	'K': integer(1), 'M': integer(2), 'J': signed, 'G': float, // BININT1, BININT2, BININT, BINFLOAT
	0x8a: long(1), 0x8b: long(4),
	0x8c: text(1), 'X': text(4), 0x8d: text(8), // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
	'C': blob(1), 'B': blob(4), 0x8e: blob(8), 0x96: blob(8), // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
	'}':  func(m *machine) error { return m.push(&Dict{}) },
	']':  func(m *machine) error { return m.push(&List{}) },
	0x8f: func(m *machine) error { return m.push(&Set{}) },
	')':  constant(Tuple{}), 0x85: tuple(1), 0x86: tuple(2), 0x87: tuple(3), 't': tupleOfAll,
	'(': mark, '0': pop, '1': popMark, '2': duplicate,
	's': setItem, 'u': setItems, 'a': appendItem, 'e': appendItems, 0x90: addItems, 0x91: frozenSet,
	'q': put(1), 'r': put(4), 0x94: memoize, 'h': get(1), 'j': get(4), // BINPUT, LONG_BINPUT, MEMOIZE, BINGET, LONG_BINGET
	'c': global, 0x93: stackGlobal,
	0x81: object(1), 'R': object(1), 0x92: object(2), 'b': build, // NEWOBJ, REDUCE, NEWOBJ_EX, BUILD
}

func skip(n uint64) func(*machine) error {
	return func(m *machine) error {
		_, err := m.take(n)
		return err
	}
}

func constant(value any) func(*machine) error {
	return func(m *machine) error { return m.push(value) }
}

func integer(size uint64) func(*machine) error {
	return func(m *machine) error {
		n, err := m.number(size)
		return errors.Join(err, m.push(int64(n)))
	}
}

func signed(m *machine) error {
	n, err := m.number(4)
	return errors.Join(err, m.push(int64(int32(n))))
}

func float(m *machine) error {
	b, err := m.take(8)
	if err != nil {
		return err
	}
	return m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
}

// long is a number of as many bytes as it says, the lowest first, in two's complement.
func long(size uint64) func(*machine) error {
	return func(m *machine) error {
		n, err := m.number(size)
		if err != nil {
			return err
		}
		if n > 8 {
			_, err := m.take(n)
			return errors.Join(err, m.push(Opaque{}))
		}
		value, err := m.number(n)
		if n == 0 {
			return errors.Join(err, m.push(int64(0)))
		}
		unused := 64 - 8*n
		return errors.Join(err, m.push(int64(value<<unused)>>unused))
	}
}

// text is in UTF-8, where Python lets halves of surrogate pairs stand alone.
func text(size uint64) func(*machine) error {
	return func(m *machine) error {
		n, err := m.number(size)
		if err != nil {
			return err
		}
		b, err := m.take(n)
		return errors.Join(err, m.push(strings.ToValidUTF8(string(b), "\uFFFD")))
	}
}

func blob(size uint64) func(*machine) error {
	return func(m *machine) error {
		n, err := m.number(size)
		if err != nil {
			return err
		}
		b, err := m.take(n)
		return errors.Join(err, m.push(append([]byte(nil), b...)))
	}
}

func tuple(size int) func(*machine) error {
	return func(m *machine) error {
		if len(m.stack)-m.bottom() < size {
			return errStack
		}
		from := len(m.stack) - size
		items := append(Tuple(nil), m.stack[from:]...)
		m.stack = m.stack[:from]
		return m.push(items)
	}
}

func tupleOfAll(m *machine) error {
	values, err := m.since()
	return errors.Join(err, m.push(Tuple(values)))
}

func mark(m *machine) error {
	m.marks = append(m.marks, len(m.stack))
	return nil
}

func pop(m *machine) error {
	_, err := m.pop()
	return err
}

func popMark(m *machine) error {
	_, err := m.since()
	return err
}

func duplicate(m *machine) error {
	value, err := m.top()
	return errors.Join(err, m.push(value))
}

func put(size uint64) func(*machine) error {
	return func(m *machine) error {
		n, err := m.number(size)
		if err != nil {
			return err
		}
		return m.keep(n)
	}
}

func memoize(m *machine) error { return m.keep(uint64(len(m.memo))) }

// keep puts the value on top of the stack into the memo. Writers number what they
// keep, so that no number is higher than the length of the pickle.
func (m *machine) keep(n uint64) error {
	value, err := m.top()
	if err != nil {
		return err
	}
	if n > uint64(len(m.data)) {
		return errors.New("it keeps a value under a number that no writer gives")
	}
	for uint64(len(m.memo)) <= n {
		m.memo = append(m.memo, nothing{})
	}
	m.memo[n] = value
	return nil
}

func get(size uint64) func(*machine) error {
	return func(m *machine) error {
		n, err := m.number(size)
		if err != nil {
			return err
		}
		if n >= uint64(len(m.memo)) || m.memo[n] == any(nothing{}) {
			return errors.New("it asks for a value that was never kept")
		}
		return m.push(m.memo[n])
	}
}

// nothing is in the places of the memo that were passed over.
type nothing struct{}

// global names a class as two lines.
func global(m *machine) error {
	module, rest, ok := strings.Cut(string(m.data[m.at:]), "\n")
	name, _, named := strings.Cut(rest, "\n")
	if !ok || !named {
		return errShort
	}
	m.at += len(module) + len(name) + 2
	return m.push(Class{module, name})
}
