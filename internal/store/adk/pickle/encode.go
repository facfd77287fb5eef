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
	if w.writeValue(value); w.err != nil {
		return nil, w.err
	}
	w.writeCodes('.')
	return append(binary.LittleEndian.AppendUint64([]byte{0x80, 5, 0x95}, uint64(len(w.out))), w.out...), nil
}

type writer struct {
	out     []byte
	texts   map[string]int // their numbers in the memo
	classes map[Class]int
	memo    int   // how many values are in it
	err     error // the first one
}

func (w *writer) writeCodes(codes ...byte) { w.out = append(w.out, codes...) }

// keepTop puts the value on top of the stack into the memo, as CPython does with
// everything that can be meant twice.
func (w *writer) keepTop() int {
	w.writeCodes(0x94)
	w.memo++
	return w.memo - 1
}

func (w *writer) writeReference(number int) {
	if number < 256 {
		w.writeCodes('h', byte(number))
		return
	}
	w.out = binary.LittleEndian.AppendUint32(append(w.out, 'j'), uint32(number))
}

func (w *writer) writeValue(value any) {
	switch v := value.(type) {
	case nil:
		w.writeCodes('N')
	case bool:
		w.writeCodes(map[bool]byte{true: 0x88, false: 0x89}[v])
	case int64:
		w.writeNumber(v)
	case float64:
		w.out = binary.BigEndian.AppendUint64(append(w.out, 'G'), math.Float64bits(v))
	case string:
		w.writeText(v)
	case *List:
		w.writeCodes(']')
		w.keepTop()
		w.fillContainer('a', 'e', len(v.Items), func(i int) []any { return v.Items[i : i+1] })
	case *Dict:
		w.writeCodes('}')
		w.keepTop()
		w.fillContainer('s', 'u', len(v.Pairs), func(i int) []any { return v.Pairs[i][:] })
	case *Set:
		w.writeCodes(0x8f)
		w.keepTop()
		w.fillContainer(0, 0x90, len(v.Items), func(i int) []any { return v.Items[i : i+1] })
	case *Object:
		w.writeObject(v)
	default:
		w.refuseValue("a value of type %T is not written", value)
	}
}

func (w *writer) refuseValue(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *writer) writeNumber(n int64) {
	switch {
	case n >= 0 && n < 1<<8:
		w.writeCodes('K', byte(n))
	case n >= 0 && n < 1<<16:
		w.out = binary.LittleEndian.AppendUint16(append(w.out, 'M'), uint16(n))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		w.out = binary.LittleEndian.AppendUint32(append(w.out, 'J'), uint32(n))
	default:
		size := 8
		for size > 1 && n<<(72-8*size)>>(72-8*size) == n { // one byte less still holds it
			size--
		}
		w.writeCodes(0x8a, byte(size))
		w.out = append(w.out, binary.LittleEndian.AppendUint64(nil, uint64(n))[:size]...)
	}
}

func (w *writer) writeText(s string) {
	if number, known := w.texts[s]; known {
		w.writeReference(number)
		return
	}
	if len(s) < 1<<8 {
		w.writeCodes(0x8c, byte(len(s)))
	} else {
		w.out = binary.LittleEndian.AppendUint32(append(w.out, 'X'), uint32(len(s)))
	}
	w.out = append(w.out, s...)
	w.texts[s] = w.keepTop()
}

// fillContainer puts values into the container on top of the stack: one with an opcode of
// its own where there is one, several behind a mark.
func (w *writer) fillContainer(one, many byte, n int, values func(i int) []any) {
	if n == 0 {
		return
	}
	end := one
	if n > 1 || one == 0 {
		w.writeCodes('(')
		end = many
	}
	for i := range n {
		for _, value := range values(i) {
			w.writeValue(value)
		}
	}
	w.writeCodes(end)
}

// writeObject writes an object that was made without arguments and then given its state.
func (w *writer) writeObject(o *Object) {
	if args, ok := o.Args.(Tuple); !ok || len(args) > 0 {
		w.refuseValue("an object of %s that was made with arguments is not written", o.Class.Name)
	}
	if number, known := w.classes[o.Class]; known {
		w.writeReference(number)
	} else {
		w.writeText(o.Class.Module)
		w.writeText(o.Class.Name)
		w.writeCodes(0x93)
		w.classes[o.Class] = w.keepTop()
	}
	w.writeCodes(')', 0x81)
	w.keepTop()
	if o.State != nil {
		w.writeValue(o.State)
		w.writeCodes('b')
	}
}
