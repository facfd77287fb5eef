// Package pickle reads Python pickles without running anything in them: a class is
// a name, an object is that name with its state. It knows what the protocols 2 to 5
// write for plain data and for objects of pydantic, and nothing else. It is pure.
//
// The facts are those of PEP 307, PEP 3154, PEP 574 and of Python's pickletools.
package pickle

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
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
		code := byte(m.takeNumber(1))
		run := opcodes[code]
		switch {
		case m.err != nil:
			return nil, m.err
		case code == '.':
			value := m.pop()
			return value, m.err
		case run == nil:
			return nil, fmt.Errorf("the opcode %#02x at byte %d does not make plain data", code, m.at-1)
		}
		if run(m); m.err != nil {
			return nil, fmt.Errorf("opcode %#02x, before byte %d: %w", code, m.at, m.err)
		}
	}
}

// Field is what an object of pydantic, or a dictionary, has under a name; nil for
// nothing.
func Field(value any, name string) any {
	if o, ok := value.(*Object); ok {
		value = dictEntry(o.State, "__dict__")
	}
	return dictEntry(value, name)
}

func dictEntry(value any, name string) any {
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
	err   error // the first one; what is taken behind it is nothing
}

func (m *machine) failWith(err error) {
	if m.err == nil {
		m.err = err
	}
}

// takeBytes gives the next bytes.
func (m *machine) takeBytes(n uint64) []byte {
	if n > uint64(len(m.data)-m.at) {
		m.failWith(errShort)
		return nil
	}
	b := m.data[m.at : m.at+int(n)]
	m.at += int(n)
	return b
}

// takeNumber is an unsigned integer of some bytes, the lowest first.
func (m *machine) takeNumber(size uint64) (n uint64) {
	b := m.takeBytes(size)
	for i := len(b) - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}

func (m *machine) push(value any) { m.stack = append(m.stack, value) }

// stackBottom is the length of the stack at the last mark: nothing below is taken.
func (m *machine) stackBottom() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() any {
	value := m.top()
	if m.err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return value
}

// top is the value on top of the stack, which stays.
func (m *machine) top() any {
	if len(m.stack) == m.stackBottom() {
		m.failWith(errStack)
		return nil
	}
	return m.stack[len(m.stack)-1]
}

// popMarked takes all values above the last mark, and the mark.
func (m *machine) popMarked() []any {
	if len(m.marks) == 0 {
		m.failWith(errStack)
		return nil
	}
	from := m.stackBottom()
	values := append([]any(nil), m.stack[from:]...)
	m.stack, m.marks = m.stack[:from], m.marks[:len(m.marks)-1]
	return values
}

// opcodes are those that make plain data; what others do is refused.
var opcodes = map[byte]func(*machine){
	0x80: skipBytes(1), 0x95: skipBytes(8), // PROTO, FRAME
	'N': pushConstant(nil), 0x88: pushConstant(true), 0x89: pushConstant(false),
	'K': pushInteger(1), 'M': pushInteger(2), // BININT1, BININT2
	'J':  func(m *machine) { m.push(int64(int32(m.takeNumber(4)))) },                              // BININT
	'G':  func(m *machine) { m.push(math.Float64frombits(bits.ReverseBytes64(m.takeNumber(8)))) }, // BINFLOAT
	0x8a: pushLong(1), 0x8b: pushLong(4),
	0x8c: pushText(1), 'X': pushText(4), 0x8d: pushText(8), // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
	'C': pushBytes(1), 'B': pushBytes(4), 0x8e: pushBytes(8), 0x96: pushBytes(8), // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
	'}':  func(m *machine) { m.push(&Dict{}) },
	']':  func(m *machine) { m.push(&List{}) },
	0x8f: func(m *machine) { m.push(&Set{}) },
	')':  pushConstant(Tuple{}), 0x85: pushTuple(1), 0x86: pushTuple(2), 0x87: pushTuple(3),
	't': func(m *machine) { m.push(Tuple(m.popMarked())) },
	'(': func(m *machine) { m.marks = append(m.marks, len(m.stack)) },
	'0': func(m *machine) { m.pop() },
	'1': func(m *machine) { m.popMarked() },
	'2': func(m *machine) { m.push(m.top()) },
	's': setItem, 'u': func(m *machine) { m.fillDict(m.popMarked()) },
	'a': func(m *machine) { m.extendList(m.pop()) }, 'e': func(m *machine) { m.extendList(m.popMarked()...) },
	0x90: addItems, 0x91: func(m *machine) { m.push(&Set{Items: m.popMarked()}) }, // ADDITEMS, FROZENSET
	'q': putMemo(1), 'r': putMemo(4), 'h': getMemo(1), 'j': getMemo(4), // BINPUT, LONG_BINPUT, BINGET, LONG_BINGET
	0x94: func(m *machine) { m.keepMemo(uint64(len(m.memo))) }, // MEMOIZE
	'c':  pushGlobal, 0x93: pushStackGlobal,
	0x81: pushObject(1), 'R': pushObject(1), 0x92: pushObject(2), 'b': setState, // NEWOBJ, REDUCE, NEWOBJ_EX, BUILD
}

func skipBytes(n uint64) func(*machine) { return func(m *machine) { m.takeBytes(n) } }

func pushConstant(value any) func(*machine) { return func(m *machine) { m.push(value) } }

func pushInteger(size uint64) func(*machine) {
	return func(m *machine) { m.push(int64(m.takeNumber(size))) }
}

// pushLong is a number of as many bytes as it says, the lowest first, in two's complement.
func pushLong(size uint64) func(*machine) {
	return func(m *machine) {
		switch n := m.takeNumber(size); {
		case n > 8:
			m.takeBytes(n)
			m.push(Opaque{})
		case n == 0:
			m.push(int64(0))
		default:
			unused := 64 - 8*n
			m.push(int64(m.takeNumber(n)<<unused) >> unused)
		}
	}
}

// pushText is in UTF-8, where Python lets halves of surrogate pairs stand alone.
func pushText(size uint64) func(*machine) {
	return func(m *machine) { m.push(strings.ToValidUTF8(string(m.takeBytes(m.takeNumber(size))), "\uFFFD")) }
}

func pushBytes(size uint64) func(*machine) {
	return func(m *machine) { m.push(append([]byte(nil), m.takeBytes(m.takeNumber(size))...)) }
}

func pushTuple(size int) func(*machine) {
	return func(m *machine) {
		from := len(m.stack) - size
		if from < m.stackBottom() {
			m.failWith(errStack)
			return
		}
		items := append(Tuple(nil), m.stack[from:]...)
		m.stack = m.stack[:from]
		m.push(items)
	}
}

func putMemo(size uint64) func(*machine) { return func(m *machine) { m.keepMemo(m.takeNumber(size)) } }

// keepMemo puts the value on top of the stack into the memo. Writers number what they
// keep, so that no number is higher than the length of the pickle.
func (m *machine) keepMemo(n uint64) {
	value := m.top()
	if n > uint64(len(m.data)) {
		m.failWith(errors.New("it keeps a value under a number that no writer gives"))
		return
	}
	for uint64(len(m.memo)) <= n {
		m.memo = append(m.memo, nothing{})
	}
	m.memo[n] = value
}

func getMemo(size uint64) func(*machine) {
	return func(m *machine) {
		n := m.takeNumber(size)
		if n >= uint64(len(m.memo)) || m.memo[n] == any(nothing{}) {
			m.failWith(errors.New("it asks for a value that was never kept"))
			return
		}
		m.push(m.memo[n])
	}
}

// nothing is in the places of the memo that were passed over.
type nothing struct{}

// pushGlobal names a class as two lines.
func pushGlobal(m *machine) {
	module, rest, ok := strings.Cut(string(m.data[m.at:]), "\n")
	name, _, named := strings.Cut(rest, "\n")
	if !ok || !named {
		m.failWith(errShort)
		return
	}
	m.at += len(module) + len(name) + 2
	m.push(Class{module, name})
}

func pushStackGlobal(m *machine) {
	name, named := m.pop().(string)
	module, known := m.pop().(string)
	if !named || !known {
		m.failWith(errKind)
	}
	m.push(Class{module, name})
}

func setItem(m *machine) {
	value, key := m.pop(), m.pop()
	m.fillDict([]any{key, value})
}

// fillDict gives the dictionary on top of the stack its keys and values.
func (m *machine) fillDict(values []any) {
	top := m.top()
	d, ok := top.(*Dict)
	if _, isObject := top.(*Object); !ok && !isObject || len(values)%2 != 0 {
		m.failWith(errKind)
		return
	}
	for i := 0; i < len(values); i += 2 {
		switch values[i].(type) {
		case *List, *Dict: // Python cannot compare them either
			m.failWith(errKind)
		case nil, bool, int64, float64, string:
			if ok {
				d.Pairs = append(d.Pairs, [2]any{values[i], values[i+1]})
			}
		}
	}
}

// extendList gives the list on top of the stack its values.
func (m *machine) extendList(values ...any) {
	switch l := m.top().(type) {
	case *List:
		l.Items = append(l.Items, values...)
	case *Object:
	default:
		m.failWith(errKind)
	}
}

func addItems(m *machine) {
	values := m.popMarked()
	s, ok := m.top().(*Set)
	if !ok {
		m.failWith(errKind)
		return
	}
	s.Items = append(s.Items, values...)
}

// pushObject makes an object of a class and what it would be called with: one value, or
// two with arguments by name, of which nothing here has a use.
func pushObject(values int) func(*machine) {
	return func(m *machine) {
		var args any
		for range values {
			args = m.pop()
		}
		class, ok := m.pop().(Class)
		if !ok {
			m.failWith(errKind)
		}
		m.push(&Object{Class: class, Args: args})
	}
}

func setState(m *machine) {
	state := m.pop()
	o, ok := m.top().(*Object)
	if !ok {
		m.failWith(errKind)
		return
	}
	o.State = state
}
