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
			b := media.NewBlock("image/png", tc.data)
			if b.Is != tc.is || b.Broken != tc.broken || b.Bytes != int64(len(tc.data)) || b.Name != "image" || b.Media != "image/png" {
				t.Errorf("%+v", b)
			}
		})
	}
}

// Decoders of bytes take both alphabets, with or without padding, and write one.
func TestDecoded(t *testing.T) {
	for name, tc := range map[string]struct{ data, want string }{
		"the standard alphabet": {"+/8=", "+/8="},
		"the URL alphabet":      {"-_8=", "+/8="},
		"no padding":            {"-_8", "+/8="},
		"nothing":               {},
		"no base64":             {"A", "A==="},
	} {
		t.Run(name, func(t *testing.T) {
			if got := media.StandardBase64(tc.data); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestInline(t *testing.T) {
	for url, want := range map[string][2]string{
		"data:image/png;base64,AAAA":           {"image/png", "AAAA"},
		"data:image/png;name=a.png;base64,AAA": {"image/png", "AAA"},
		"data:;base64,AAAA":                    {"", "AAAA"},
		"data:image/png,AAAA":                  {},
		"data:image/png;base64":                {},
		"https://x/y.png":                      {},
	} {
		if label, data := media.SplitDataURL(url); label != want[0] || data != want[1] {
			t.Errorf("%s: %q, %q", url, label, data)
		}
	}
}
