package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	stdimage "image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"testing"
)

// Images of every format that providers take, each with data behind its header
// that no image has.
func TestPixels(t *testing.T) {
	picture := stdimage.NewGray(stdimage.Rect(0, 0, 2001, 13))
	encoders := map[string]func(w io.Writer) error{
		"png":  func(w io.Writer) error { return png.Encode(w, picture) },
		"jpeg": func(w io.Writer) error { return jpeg.Encode(w, picture, nil) },
		"gif":  func(w io.Writer) error { return gif.Encode(w, picture, nil) },
		"webp": func(w io.Writer) error { return lossyWebP(w, 2001, 13) },
		"webp, lossless": func(w io.Writer) error {
			_, err := w.Write(webpOf("VP8L", binary.LittleEndian.AppendUint32([]byte{0x2f}, 2000|12<<14)))
			return err
		},
		"webp, extended": func(w io.Writer) error {
			_, err := w.Write(webpOf("VP8X", []byte{0, 0, 0, 0, 0xd0, 0x07, 0, 12, 0, 0}))
			return err
		},
	}
	for name, encode := range encoders {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := encode(&b); err != nil {
				t.Fatal(err)
			}
			data := base64.StdEncoding.EncodeToString(b.Bytes())
			if width, height := MeasureImage(data + "*"); width != 2001 || height != 13 {
				t.Errorf("%d by %d", width, height)
			}
			if width, height := MeasureImage(data[:12]); width != 0 || height != 0 {
				t.Errorf("a header that breaks off: %d by %d", width, height)
			}
		})
	}
	for _, data := range []string{"", "*", "AAAA", base64.StdEncoding.EncodeToString(webpOf("VP9 ", nil))} {
		if width, height := MeasureImage(data); width != 0 || height != 0 {
			t.Errorf("%q: %d by %d", data, width, height)
		}
	}
}

func lossyWebP(w io.Writer, width, height uint16) error {
	frame := []byte{0, 0, 0, 0x9d, 0x01, 0x2a}
	frame = binary.LittleEndian.AppendUint16(frame, width|1<<14) // with a scale
	_, err := w.Write(webpOf("VP8 ", binary.LittleEndian.AppendUint16(frame, height)))
	return err
}

// webpOf is a WebP file with this first chunk.
func webpOf(chunk string, data []byte) []byte {
	head := []byte("RIFF\x00\x00\x00\x00WEBP" + chunk + "\x00\x00\x00\x00")
	return append(append(head, data...), make([]byte, 30)...)
}
