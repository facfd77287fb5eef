package media_test

import (
	"encoding/base64"
	"testing"

	"github.com/sessctl/sessctl/internal/store/media"
)

func TestMedia(t *testing.T) {
	of := func(bytes string) string { return base64.StdEncoding.EncodeToString([]byte(bytes)) }
	for name, tc := range map[string]struct {
		data, is string
		broken   bool
	}{
		"PNG":               {data: of("\x89PNG\r\n\x1a\n rest"), is: "image/png"},
		"JPEG":              {data: of("\xff\xd8\xff\xe0"), is: "image/jpeg"},
		"GIF":               {data: of("GIF89a"), is: "image/gif"},
		"WebP":              {data: of("RIFF\x00\x00\x00\x00WEBPVP8 "), is: "image/webp"},
		"PDF":               {data: of("%PDF-1.7"), is: "application/pdf"},
		"SVG":               {data: of("<svg xmlns=''/>"), is: "image/svg+xml"},
		"a text":            {data: of("hello")},
		"nothing":           {broken: true},
		"no padding":        {data: "aGVsbG8", broken: true},
		"padding within":    {data: "aGVs=G8=", broken: true},
		"three of padding":  {data: "a===", broken: true},
		"URL alphabet":      {data: "_-8_", broken: true},
		"a line end within": {data: "aGVs\nG8=", broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := media.Block("image/png", tc.data)
			if b.Is != tc.is || b.Broken != tc.broken || b.Bytes != int64(len(tc.data)) || b.Name != "image" || b.Media != "image/png" {
				t.Errorf("%+v", b)
			}
		})
	}
}
