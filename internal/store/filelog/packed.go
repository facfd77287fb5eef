package filelog

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Packed is how the names of compressed files end.
const Packed = ".zst"

// OpenPacked is Open, and decompresses a file whose name says that it is compressed.
func OpenPacked(root *os.Root, name string) (*Log, error) {
	l, err := Open(root, name)
	if err != nil || !strings.HasSuffix(name, Packed) {
		return l, err
	}
	return &Log{file: Unpack(l.file), seen: unpackedInfo{l.seen}}, nil
}

// Unpack decompresses a file.
func Unpack(file io.ReadSeeker) io.ReadSeeker { return &unpacked{file: file, at: math.MaxInt64} }

// unpackedInfo is that of a file of which nobody knows how much is in it.
type unpackedInfo struct{ fs.FileInfo }

func (unpackedInfo) Size() int64 { return math.MaxInt64 }

// unpacked is a compressed file. It is read forwards, and from its beginning again where what was
// before is asked for.
type unpacked struct {
	file io.ReadSeeker
	from *zstd.Decoder
	at   int64 // of the next byte that from has
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.from.Read(p)
	if u.at += int64(n); errors.Is(err, io.ErrUnexpectedEOF) { // which for readers of a part is no error
		err = errors.New("its compressed data is cut off")
	}
	return n, err
}

// Seek implements io.Seeker, from the start only.
func (u *unpacked) Seek(to int64, _ int) (_ int64, err error) {
	if to < u.at {
		u.at = 0
		if _, err = u.file.Seek(0, io.SeekStart); err == nil {
			err = u.restart()
		}
	}
	if err == nil && to > u.at {
		_, err = io.CopyN(io.Discard, u, to-u.at)
	}
	if err == io.EOF { // as behind the end of a file
		err = nil
	}
	return to, err
}

func (u *unpacked) restart() (err error) {
	if u.from != nil {
		return u.from.Reset(u.file)
	}
	const most = 1 << 27 // of a window, as libzstd has it
	u.from, err = zstd.NewReader(u.file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(most), zstd.WithDecoderMaxMemory(math.MaxInt64))
	return err
}

// Close implements io.Closer.
func (u *unpacked) Close() error {
	if u.from != nil {
		u.from.Close()
	}
	if f, ok := u.file.(io.Closer); ok {
		return f.Close()
	}
	return nil
}
