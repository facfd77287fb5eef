package agenttest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
)

// TextPart is a text of multi_content.
func TextPart(text string) Part { return Part{Type: "text", Text: text} }

// ImagePart is an image of this size, as it is stored up to v1.54: in a URL.
func ImagePart(width, height int) Part {
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture(width, height))
	return Part{Type: "image_url", ImageURL: &ImageURL{URL: url, Detail: "auto"}}
}

// ImageDocument is an image of this size, as it is stored since v1.55.0.
func ImageDocument(name string, width, height int) Part {
	data := picture(width, height)
	return DocumentPart(Document{Name: name, MimeType: "image/png", Size: int64(len(data)), Source: DocumentSource{InlineData: data}})
}

// DocumentPart is an attachment of any type (v1.55.0).
func DocumentPart(d Document) Part { return Part{Type: "document", Document: &d} }

// picture is a PNG image without colours.
func picture(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic("agenttest: " + err.Error()) // only a size that no PNG has
	}
	return b.Bytes()
}
