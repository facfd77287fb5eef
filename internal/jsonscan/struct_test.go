package jsonscan

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// record has fields of all types that decoders read.
type record struct {
	Name    string         `json:"name"`
	InnerID *string        `json:"innerId"`
	On      bool           `json:"on"`
	Raw     jsontext.Value `json:"raw"`
	One     *inner         `json:"one"`
	Plain   inner          `json:"plain"`
	List    []inner        `json:"list"`
	Words   []string       `json:"words"`
	Count   int64          `json:"count"`
	Map     map[string]any `json:"map"`
	Members named          `json:"members"`
	Skipped Skipped        `json:"skipped"`
	Own     upper          `json:"own"`
	Owns    []upper        `json:"owns"`
	Shared
}

type named map[string]jsontext.Value

type Shared struct {
	Note jsontext.Value `json:"note"`
}

type inner struct {
	Text string                    `json:"text"`
	Rest map[string]jsontext.Value `json:",embed"`
}

// upper decodes itself.
type upper struct{ text string }

func (u *upper) SetText(text string) { u.text = "text " + text }

func (u *upper) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == jsontext.KindString {
		text, err := jsontext.AppendUnquote(nil, raw)
		u.SetText(string(text))
		return err
	}
	u.text = "value " + string(raw)
	return nil
}

var records = []string{
	`{"name":"a","innerId":"b\n\ud83d\ude00","on":true,"raw": {"x":[1]} ,"one":{"text":"t"},"plain":{},"list":[{"text":"x"},{}],"words":["a",null],"count":7,"map":{"a":1},"members":{"a": [1] ,"B":null},"skipped":{"a":[null]},"own":"o","owns":["p",1],"note":1}`,
	`{"NAME":"a","inner_id":"b","Inner-ID":"c"}`, `{"name":"a","name":"b"}`, `{"one":{"text":"a"},"one":{"other":1}}`,
	`{"name":null,"innerId":null,"on":null,"raw":null,"one":null,"plain":null,"list":null,"words":null,"count":null,"map":null,"own":null}`,
	`{"list":[],"words":[],"map":{"a":1},"unknown":{"name":[true]},"unread":"x","on":false}`,
	`{"name":"\"\\\/\b\f\n\r\t\u0041\u00E9\u20ac\ud83d\uDE00é behind eight bytes\\"}`, `{"name":1}`, `{"on":"true"}`, `{"list":{}}`, `{"one":[]}`, `{"one":{"more":1}}`, `{"Näme":1}`, `{"\u006eame":"x"}`, "{\"name\":\"\xff\"}", `{"name":"\ud800"}`,
	`[]`, `null`, `"x"`, ``, `{`, `{"name":"a"} x`, ` {"name" : "a" } `, `{"count":1e2}`, `{"members":{}}`, `{"skipped":null}`, `{"skipped":{"a"}}`, `{"members":null}`, `{"members":[]}`, `{"members":{"a":1,"a":[2]}}`, `{"members":{"a":1},"Members":{"b":2}}`, `{"members":{"\u0061":1}}`, `{"own":{"a":1}}`, `{"K":1}`,
}

// FuzzUnmarshal holds that a Decoder gives what json gives, and the same errors.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range records {
		f.Add([]byte(text))
	}
	strict := json.JoinOptions(jsontext.AllowDuplicateNames(true))
	fold := json.JoinOptions(strict, json.MatchCaseInsensitiveNames(true))
	lenient := json.JoinOptions(fold, jsontext.AllowInvalidUTF8(true))
	decoders := []*Decoder{{Options: strict}, {Options: fold, Fold: true}, {Options: lenient, Fold: true}}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, d := range decoders {
			var want, got record
			wantErr, gotErr := json.Unmarshal(text, &want, d.Options), d.Unmarshal(text, &got)
			if (wantErr == nil) != (gotErr == nil) || wantErr != nil && wantErr.Error() != gotErr.Error() {
				t.Fatalf("%q: %v, want %v", text, gotErr, wantErr)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q:\n%#v, want\n%#v", text, got, want)
			}
		}
	})
}

// TestUsual holds that usual texts are not left to json.
func TestUsual(t *testing.T) {
	d := Decoder{Fold: true}
	for _, text := range records[:2] {
		var r record
		s := run{Decoder: &d, Scanner: NewScanner([]byte(text))}
		if taken := s.decodeValue(reflect.ValueOf(&r).Elem(), d.planOf(reflect.TypeFor[record]())); taken != (text == records[0]) {
			t.Errorf("%s: taken: %t", text, taken)
		}
	}
}
