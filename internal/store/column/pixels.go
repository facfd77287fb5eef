package column

import (
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"strings"
)

// Pixels is what an image measures whose content is given in base64; 0 where its
// header does not tell. No more is decoded than the header.
func Pixels(data string) (width, height int) {
	var head [webpHeader]byte
	if n, _ := base64.StdEncoding.Decode(head[:], []byte(data[:min(len(data), len(head)/3*4)])); n == len(head) {
		if width, height = webp(head[:]); width > 0 {
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

// webp reads the first chunk of a WebP file (RFC 9649), which is of one of three
// kinds; 0 for anything else. The standard library does not know the format.
func webp(head []byte) (width, height int) {
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
