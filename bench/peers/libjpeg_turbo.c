/*
 * Decodes photos with libjpeg-turbo: the side of the script decoding that is not penstock.
 *
 *     libjpeg_turbo LIBRARY PASSES FILE...
 *
 * LIBRARY is opened at run time. With the TurboJPEG API it decodes with tjDecompress2, otherwise with
 * the libjpeg API, which tjDecompress2 calls itself. Both write 4 bytes per pixel into the same memory
 * again and again. It prints a checksum of all pixels' red, green and blue, and for every pass
 * the processor time of a photo in microseconds. Reading the files is not measured.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jpeglib.h>
#include <turbojpeg.h>

struct file {
	unsigned char *data;
	unsigned long size;
};

static void fail(const char *what) {
	fprintf(stderr, "libjpeg_turbo: %s\n", what);
	exit(1);
}

static struct file read_file(const char *path) {
	struct file f = {0};
	FILE *in = fopen(path, "rb");
	if (!in) fail(path);
	fseek(in, 0, SEEK_END);
	f.size = ftell(in);
	rewind(in);
	f.data = malloc(f.size);
	if (!f.data || fread(f.data, 1, f.size, in) != f.size) fail(path);
	fclose(in);
	return f;
}

static unsigned char *pixels;
static size_t room;
static int width, height;

static void make_room(void) {
	size_t need = (size_t)4 * width * height;
	if (need > room) pixels = realloc(pixels, room = need);
	if (!pixels) fail("out of memory");
}

/* The TurboJPEG API. */
static tjhandle handle;
static tjhandle (*tj_init)(void);
static int (*tj_header)(tjhandle, const unsigned char *, unsigned long, int *, int *, int *, int *);
static int (*tj_decompress)(tjhandle, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int);

static void decode_turbojpeg(struct file *f) {
	int sampling, space;
	if (tj_header(handle, f->data, f->size, &width, &height, &sampling, &space)) fail("tjDecompressHeader3");
	make_room();
	if (tj_decompress(handle, f->data, f->size, pixels, width, 0, height, TJPF_RGBX, 0)) fail("tjDecompress2");
}

/* The libjpeg API. */
static struct jpeg_decompress_struct image;
static struct jpeg_error_mgr errors;
static struct jpeg_error_mgr *(*std_error)(struct jpeg_error_mgr *);
static void (*create)(j_decompress_ptr, int, size_t);
static void (*mem_src)(j_decompress_ptr, const unsigned char *, unsigned long);
static int (*read_header)(j_decompress_ptr, boolean);
static boolean (*start)(j_decompress_ptr);
static JDIMENSION (*read_scanlines)(j_decompress_ptr, JSAMPARRAY, JDIMENSION);
static boolean (*finish)(j_decompress_ptr);

static void decode_libjpeg(struct file *f) {
	static JSAMPROW rows[65536];
	mem_src(&image, f->data, f->size);
	read_header(&image, TRUE);
	image.out_color_space = JCS_EXT_RGBX;
	start(&image);
	width = image.output_width;
	height = image.output_height;
	make_room();
	for (int y = 0; y < height; y++) rows[y] = pixels + (size_t)4 * width * y;
	while (image.output_scanline < image.output_height)
		read_scanlines(&image, rows + image.output_scanline, image.output_height - image.output_scanline);
	finish(&image);
}

static void *symbol(void *library, const char *name) {
	void *found = dlsym(library, name);
	if (!found) fail(name);
	return found;
}

int main(int argc, char **argv) {
	if (argc < 4) fail("want LIBRARY PASSES FILE...");
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library) fail(dlerror());
	void (*decode)(struct file *) = decode_libjpeg;
	if (dlsym(library, "tjDecompress2")) {
		decode = decode_turbojpeg;
		tj_init = symbol(library, "tjInitDecompress");
		tj_header = symbol(library, "tjDecompressHeader3");
		tj_decompress = symbol(library, "tjDecompress2");
		handle = tj_init();
	} else {
		std_error = symbol(library, "jpeg_std_error");
		create = symbol(library, "jpeg_CreateDecompress");
		mem_src = symbol(library, "jpeg_mem_src");
		read_header = symbol(library, "jpeg_read_header");
		start = symbol(library, "jpeg_start_decompress");
		read_scanlines = symbol(library, "jpeg_read_scanlines");
		finish = symbol(library, "jpeg_finish_decompress");
		image.err = std_error(&errors);
		create(&image, JPEG_LIB_VERSION, sizeof image);
	}
	int passes = atoi(argv[2]), n = argc - 3;
	struct file *files = malloc(n * sizeof *files);
	uint32_t sum = 2166136261u; /* FNV-1a */
	for (int i = 0; i < n; i++) {
		files[i] = read_file(argv[3 + i]);
		decode(&files[i]);
		for (size_t p = 0; p < (size_t)4 * width * height; p++)
			if (p % 4 < 3) sum = (sum ^ pixels[p]) * 16777619u;
	}
	printf("%08x\n", sum);
	for (int pass = 0; pass < passes; pass++) {
		clock_t begun = clock();
		for (int i = 0; i < n; i++) decode(&files[i]);
		printf("%.1f\n", (clock() - begun) * 1e6 / CLOCKS_PER_SEC / n);
	}
	return 0;
}
