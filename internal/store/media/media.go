// Package media says what of an image or a file a message holds in base64.
package media

import (
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// NewBlock is that of what a message holds in base64, under a label.
func NewBlock(label, data string) session.Block {
	b := session.Block{Kind: session.MediaBlock, Name: session.MediaName(label), Media: label, Bytes: int64(len(data))}
	b.Broken = data == "" || len(data)%4 != 0
	for rest := strings.TrimSuffix(strings.TrimSuffix(data, "="), "="); rest != "" && !b.Broken; rest = rest[1:] {
		b.Broken = !inBase64[rest[0]]
	}
	var head [18]byte
	n, _ := base64.StdEncoding.Decode(head[:], []byte(data[:min(len(data)/4*4, 4*len(head)/3)]))
	for _, m := range magic {
		if strings.HasPrefix(string(head[min(m.at, n):n]), m.bytes) {
			b.Is = m.media
		}
	}
	if b.Name == "image" {
		b.Width, b.Height = MeasureImage(data)
	}
	return b
}

// SplitDataURL splits what a data URL in base64 holds, and the type that it names; nothing for any other URL.
func SplitDataURL(url string) (label, data string) {
	head, data, _ := strings.Cut(url, ",")
	label, inline := strings.CutPrefix(head, "data:")
	label, inBase64 := strings.CutSuffix(label, ";base64")
	if !inline || !inBase64 || data == "" {
		return "", ""
	}
	label, _, _ = strings.Cut(label, ";")
	return label, data
}

// StandardBase64 is base64 as a runtime sends it that decodes what it stored, which may be in the URL
// alphabet and without padding: pydantic writes the one, and takes the other too.
func StandardBase64(data string) string {
	if strings.IndexByte(data, '-') >= 0 || strings.IndexByte(data, '_') >= 0 {
		data = standardAlphabet.Replace(data)
	}
	return data + "==="[:-len(data)&3]
}

var standardAlphabet = strings.NewReplacer("-", "+", "_", "/")

// inBase64 are the characters of the standard alphabet (RFC 4648, section 4).
var inBase64 = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		is[c] = true
	}
	return is
}()

// magic are the bytes that files of a type have at a place of theirs.
var magic = []struct {
	at           int
	bytes, media string
}{
	{0, "\x89PNG\r\n\x1a\n", "image/png"},
	{0, "\xff\xd8\xff", "image/jpeg"},
	{0, "GIF8", "image/gif"},
	{8, "WEBP", "image/webp"},
	{0, "BM", "image/bmp"},
	{0, "II*\x00", "image/tiff"},
	{0, "MM\x00*", "image/tiff"},
	{4, "ftypheic", "image/heic"},
	{4, "ftypavif", "image/avif"},
	{0, "<svg", "image/svg+xml"},
	{0, "%PDF-", "application/pdf"},
}

// MeasureImage measures what an image measures whose content is given in base64; 0 where its
// header does not tell. No more is decoded than the header.
func MeasureImage(data string) (width, height int) {
	var head [webpHeader]byte
	if n, _ := base64.StdEncoding.Decode(head[:], []byte(data[:min(len(data), len(head)/3*4)])); n == len(head) {
		if width, height = webpSize(head[:]); width > 0 {
			return width, height
		}
	}
	config, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return 0, 0
	}
	return config.Width, config.Height
}

// webpHeader are the bytes of a WebP file that tell its size.
const webpHeader = 30

// webpSize reads the first chunk of a WebP file (RFC 9649), which is of one of three
// kinds; 0 for anything else. The standard library does not know the format.
func webpSize(head []byte) (width, height int) {
	if string(head[:4]) != "RIFF" || string(head[8:12]) != "WEBP" {
		return 0, 0
	}
	le := binary.LittleEndian
	switch string(head[12:16]) {
	case "VP8 ":
		return int(le.Uint16(head[26:]) & 0x3fff), int(le.Uint16(head[28:]) & 0x3fff)
	case "VP8L":
		bits := le.Uint32(head[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return int(le.Uint32(head[24:])&0xffffff) + 1, int(le.Uint32(head[26:])>>8) + 1
	}
	return 0, 0
}
