package sqlite

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sessctl/sessctl/internal/problem"
)

// contents names what people take for a store by mistake, by media type.
var contents = map[string]string{
	"text/plain":         "plain text",
	"text/html":          "an HTML page",
	"text/xml":           "an XML file",
	"image/jpeg":         "a JPEG image",
	"image/png":          "a PNG image",
	"image/gif":          "a GIF image",
	"application/pdf":    "a PDF document",
	"application/zip":    "a zip archive",
	"application/x-gzip": "a gzip archive",
}

// notADatabase is the problem with a file that begins with head and is no
// SQLite database.
func notADatabase(path string, head []byte, size int64) error {
	next := "see `sessctl stores` for what sessctl reads"
	what := "is not a session store: it is " + describe(head)
	switch {
	case looksLikeHeader(head):
		what = "cannot be read: it looks like a SQLite database whose first 16 bytes are damaged"
		next = "restore a backup; or copy the file, let the copy begin with \"SQLite format 3\" and a zero byte, and check the copy"
	case looksEncrypted(head):
		what = "is not a readable session store: it looks encrypted"
		next = "decrypt it into a new file with the tool that wrote it, and check that file"
	}
	return problem.New(problem.Unreadable, next, "%s %s (%s)", path, what, bytesText(size))
}

func describe(head []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if name, ok := contents[media]; ok {
		return name
	}
	if media != "application/octet-stream" {
		return "a file of type " + media
	}
	return "a binary file of an unknown kind"
}

// looksEncrypted reports whether head is as random as encrypted bytes are. An
// encrypted database begins with a random salt, so no magic tells it apart.
func looksEncrypted(head []byte) bool {
	if len(head) < 1024 || http.DetectContentType(head) != "application/octet-stream" {
		return false
	}
	var count [256]int
	for _, b := range head {
		count[b]++
	}
	bits, n := 0.0, float64(len(head))
	for _, c := range count {
		if c > 0 {
			bits -= float64(c) / n * math.Log2(float64(c)/n)
		}
	}
	return bits > 7.7 // random: 7.81 bits per byte in 1 KB, 7.95 in 4 KB; text about 5, programs about 6
}

func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return humanize.Bytes(uint64(n))
}
