package cmd

import "github.com/spf13/pflag"

// addDigitFlags lets -1, -2 and so on be arguments although they begin as flags
// do: every digit is a hidden flag that adds itself to what was typed.
func addDigitFlags(flags *pflag.FlagSet, typed *string) {
	for _, d := range "0123456789" {
		f := flags.VarPF(&digit{typed, string(d)}, "newest-"+string(d), string(d), "")
		f.NoOptDefVal, f.Hidden = string(d), true
	}
}

type digit struct {
	typed *string
	digit string
}

func (d *digit) String() string   { return "" }
func (d *digit) Type() string     { return "" }
func (d *digit) Set(string) error { *d.typed += d.digit; return nil }
