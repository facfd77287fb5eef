package pickle

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

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
