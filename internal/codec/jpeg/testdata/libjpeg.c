// What libjpeg makes of a file in memory, for mutations.py, which compiles this
// and calls it.

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct errors {
	struct jpeg_error_mgr manager; // libjpeg knows only this
	jmp_buf out;
	char *said; // JMSG_LENGTH_MAX bytes: the first warning, or the error
};

static void fail(j_common_ptr c)
{
	struct errors *e = (struct errors *)c->err;
	e->manager.format_message(c, e->said);
	longjmp(e->out, 1);
}

static void note(j_common_ptr c, int level)
{
	struct errors *e = (struct errors *)c->err;
	if (level < 0 && e->manager.num_warnings++ == 0)
		e->manager.format_message(c, e->said);
}

// PIECE is less than libjpeg wants to have before it decodes in a hurry, which
// is when it does not warn of codes that no symbol has.
#define PIECE 500

struct source {
	struct jpeg_source_mgr manager; // libjpeg knows only this
	const unsigned char *rest;
	unsigned long left;
};

static boolean more(j_decompress_ptr d)
{
	static const unsigned char end[] = {0xff, JPEG_EOI};
	struct source *s = (struct source *)d->src;
	unsigned long n = s->left < PIECE ? s->left : PIECE;
	if (n == 0) {
		d->err->msg_code = JWRN_JPEG_EOF;
		d->err->emit_message((j_common_ptr)d, -1);
		s->manager.next_input_byte = end;
		s->manager.bytes_in_buffer = sizeof end;
		return TRUE;
	}
	s->manager.next_input_byte = s->rest;
	s->manager.bytes_in_buffer = n;
	s->rest += n;
	s->left -= n;
	return TRUE;
}

static void skip(j_decompress_ptr d, long n)
{
	struct jpeg_source_mgr *s = d->src;
	for (; n > (long)s->bytes_in_buffer; more(d))
		n -= s->bytes_in_buffer;
	if (n > 0) {
		s->next_input_byte += n;
		s->bytes_in_buffer -= n;
	}
}

static void nothing(j_decompress_ptr d)
{
	(void)d;
}

// ink is Pillow's conversion of one inverted ink and the inverted black.
static unsigned char ink(int c, int k)
{
	int t = (255 - c) * k + 128;
	return k - (((t >> 8) + t) >> 8);
}

// to_rgb makes a row of n pixels three bytes each, in place.
static void to_rgb(unsigned char *row, int n, int components)
{
	if (components == 1)
		for (int i = n - 1; i >= 0; i--)
			memset(row + 3 * i, row[i], 3);
	if (components == 4)
		for (int i = 0; i < n; i++)
			for (int j = 0, k = row[4 * i + 3]; j < 3; j++)
				row[3 * i + j] = ink(row[4 * i + j], k);
}

// decode writes the image to pixels, with three bytes per pixel, and returns the
// number of pixels, or 0 after an error. Pixels has room for `room` pixels and one
// row of four bytes per pixel. Warnings is set to the number of warnings.
long decode(const unsigned char *data, unsigned long size, unsigned char *pixels, long room, char *said, long *warnings)
{
	struct jpeg_decompress_struct d;
	struct source s = {{0}, data, size};
	struct errors e;
	long n;

	memset(&d, 0, sizeof d);
	d.err = jpeg_std_error(&e.manager);
	e.manager.error_exit = fail;
	e.manager.emit_message = note;
	e.said = said;
	*said = 0;
	*warnings = 0;
	if (setjmp(e.out)) {
		jpeg_destroy_decompress(&d);
		return 0;
	}
	jpeg_create_decompress(&d);
	d.src = &s.manager;
	s.manager.init_source = s.manager.term_source = nothing;
	s.manager.fill_input_buffer = more;
	s.manager.skip_input_data = skip;
	s.manager.resync_to_restart = jpeg_resync_to_restart;
	jpeg_read_header(&d, TRUE);
	if (d.num_components != 1 && d.num_components != 3 && d.num_components != 4) {
		strcpy(said, "number of components other than 1, 3 and 4");
		longjmp(e.out, 1);
	}
	if ((long)d.image_width * d.image_height > room) {
		strcpy(said, "too many pixels");
		longjmp(e.out, 1);
	}
	jpeg_start_decompress(&d);
	while (d.output_scanline < d.output_height) {
		unsigned char *row = pixels + 3L * d.output_scanline * d.output_width;
		jpeg_read_scanlines(&d, &row, 1);
		to_rgb(row, d.output_width, d.output_components);
	}
	jpeg_finish_decompress(&d);
	*warnings = e.manager.num_warnings;
	n = (long)d.output_width * d.output_height;
	jpeg_destroy_decompress(&d);
	return n;
}
