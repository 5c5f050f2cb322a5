// cuDNN's header as gorgonia.org/cu v0.9.6 knows it: what cuDNN 9 took away is
// declared again, and its functions say that they are not supported. No operation
// of gorgonia's calls them.
#ifndef PENSTOCK_CUDNN_H
#define PENSTOCK_CUDNN_H

#include_next <cudnn.h>

#if CUDNN_MAJOR >= 9

typedef struct {
	union {
		cudnnConvolutionFwdAlgo_t convFwdAlgo;
		cudnnConvolutionBwdFilterAlgo_t convBwdFilterAlgo;
		cudnnConvolutionBwdDataAlgo_t convBwdDataAlgo;
		cudnnRNNAlgo_t RNNAlgo;
		cudnnCTCLossAlgo_t CTCLossAlgo;
	} algo;
} cudnnAlgorithm_t;

typedef struct cudnnAlgorithmStruct *cudnnAlgorithmDescriptor_t;
typedef struct cudnnAlgorithmPerformanceStruct *cudnnAlgorithmPerformance_t;
typedef struct cudnnPersistentRNNPlan *cudnnPersistentRNNPlan_t;

#define PENSTOCK_REMOVED(name, ...) \
	static inline cudnnStatus_t name(__VA_ARGS__) { return CUDNN_STATUS_NOT_SUPPORTED; }

PENSTOCK_REMOVED(cudnnCreateAlgorithmDescriptor, cudnnAlgorithmDescriptor_t *d)
PENSTOCK_REMOVED(cudnnSetAlgorithmDescriptor, cudnnAlgorithmDescriptor_t d, cudnnAlgorithm_t a)
PENSTOCK_REMOVED(cudnnDestroyAlgorithmDescriptor, cudnnAlgorithmDescriptor_t d)
PENSTOCK_REMOVED(cudnnCreateAlgorithmPerformance, cudnnAlgorithmPerformance_t *p, int n)
PENSTOCK_REMOVED(cudnnSetAlgorithmPerformance, cudnnAlgorithmPerformance_t p, cudnnAlgorithmDescriptor_t d,
	cudnnStatus_t status, float time, size_t memory)
PENSTOCK_REMOVED(cudnnDestroyAlgorithmPerformance, cudnnAlgorithmPerformance_t *p, int n)
PENSTOCK_REMOVED(cudnnCreatePersistentRNNPlan, cudnnRNNDescriptor_t d, int batch, cudnnDataType_t type,
	cudnnPersistentRNNPlan_t *p)
PENSTOCK_REMOVED(cudnnSetPersistentRNNPlan, cudnnRNNDescriptor_t d, cudnnPersistentRNNPlan_t p)
PENSTOCK_REMOVED(cudnnDestroyPersistentRNNPlan, cudnnPersistentRNNPlan_t p)
PENSTOCK_REMOVED(cudnnSetRNNMatrixMathType, cudnnRNNDescriptor_t d, cudnnMathType_t type)
PENSTOCK_REMOVED(cudnnGetRNNLinLayerMatrixParams, cudnnHandle_t h, cudnnRNNDescriptor_t d, int layer,
	cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, const void *weights, int part,
	cudnnFilterDescriptor_t matrix, void **out)
PENSTOCK_REMOVED(cudnnGetRNNLinLayerBiasParams, cudnnHandle_t h, cudnnRNNDescriptor_t d, int layer,
	cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, const void *weights, int part,
	cudnnFilterDescriptor_t bias, void **out)

#undef PENSTOCK_REMOVED

#endif

#endif
